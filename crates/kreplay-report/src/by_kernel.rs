//! Values over the dispatches of a kernel.

use std::collections::{BTreeMap, HashMap};

use kreplay_protocol::{Outcome, Phases};
use kreplay_store::{AgentRow, DispatchRow, Reader, ReadingRow, StoreError};

use crate::overview::{Counting, add_phases};

/// How values are combined, in words for every output.
pub(crate) const COMBINED: &str =
    "mean, min and max are over the dispatches of a kernel on one kind of chip; passes are kept apart";

/// The same where no dispatch differs from the mean.
pub(crate) const SAME: &str =
    "mean is over the dispatches of a kernel on one kind of chip, and none differs from it; passes are kept apart";

/// A kernel on one kind of chip, over all processes of the job.
#[derive(Debug, Clone)]
pub(crate) struct KernelTotals {
    pub(crate) kernel: String,
    pub(crate) chip: String,
    pub(crate) simulated: bool,
    pub(crate) dispatches: u64,
    pub(crate) replayed: u64,
    pub(crate) counted: u64,
    pub(crate) declined: u64,
    pub(crate) divergent: u64,
    /// Replayed or counted, and without any value of those that were asked for.
    pub(crate) without_values: u64,
    /// Dispatches by decline reason.
    pub(crate) reasons: BTreeMap<String, u64>,
    pub(crate) passes: u64,
    pub(crate) footprint_bytes_max: u64,
    pub(crate) write_set_bytes_max: u64,
    pub(crate) phases: Phases,
    /// By pass, then in the order in which they came.
    pub(crate) values: Vec<ValueTotals>,
    /// Where the next reading is looked for first.
    next: usize,
}

/// A counter in one pass, over the dispatches of a kernel.
#[derive(Debug, Clone)]
pub(crate) struct ValueTotals {
    /// Its first value, which tells what the others have in common with it.
    pub(crate) first: ReadingRow,
    /// The largest bound of any of the values; `None` when all are exact.
    pub(crate) bound: Option<f64>,
    pub(crate) dispatches: u64,
    sum: f64,
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// The kernels of a file in the order of their first dispatch.
pub(crate) fn collect(reader: &Reader) -> Result<Vec<KernelTotals>, StoreError> {
    let agents: HashMap<(i64, u64), AgentRow> =
        reader.agents()?.into_iter().map(|agent| ((agent.process, agent.number), agent)).collect();
    let counting = Counting::of(&reader.plan_passes()?);
    let mut places: HashMap<(String, String, bool), usize> = HashMap::new();
    let mut kernels: Vec<KernelTotals> = Vec::new();
    reader.for_each_dispatch(|dispatch| {
        let chip = agents.get(&(dispatch.process, dispatch.agent)).map_or("", |agent| &agent.chip);
        let key = (dispatch.kernel.clone(), chip.to_owned(), dispatch.simulated);
        let place = *places.entry(key).or_insert_with(|| {
            kernels.push(KernelTotals::new(&dispatch.kernel, chip, dispatch.simulated));
            kernels.len() - 1
        });
        kernels[place].add(&dispatch);
        kernels[place].without_values += u64::from(counting.misses(&dispatch));
        Ok::<_, StoreError>(())
    })?;
    for kernel in &mut kernels {
        // The sort is stable: within a pass the order of coming stays.
        kernel.values.sort_by_key(|value| value.first.pass.map_or(u64::MAX, u64::from));
    }
    Ok(kernels)
}

impl KernelTotals {
    fn new(kernel: &str, chip: &str, simulated: bool) -> Self {
        KernelTotals {
            kernel: kernel.to_owned(),
            chip: chip.to_owned(),
            simulated,
            dispatches: 0,
            replayed: 0,
            counted: 0,
            declined: 0,
            divergent: 0,
            without_values: 0,
            reasons: BTreeMap::new(),
            passes: 0,
            footprint_bytes_max: 0,
            write_set_bytes_max: 0,
            phases: Phases::default(),
            values: Vec::new(),
            next: 0,
        }
    }

    fn add(&mut self, dispatch: &DispatchRow) {
        self.dispatches += 1;
        match dispatch.outcome {
            Outcome::Replayed => self.replayed += 1,
            Outcome::Counted => self.counted += 1,
            Outcome::Declined => self.declined += 1,
            Outcome::NotSelected => {}
        }
        if let Some(reason) = &dispatch.reason {
            *self.reasons.entry(reason.clone()).or_default() += 1;
        }
        self.divergent += u64::from(dispatch.divergence.is_some());
        self.passes += u64::from(dispatch.passes_done);
        self.footprint_bytes_max = self.footprint_bytes_max.max(dispatch.bytes.footprint);
        self.write_set_bytes_max = self.write_set_bytes_max.max(dispatch.bytes.write_set);
        add_phases(&mut self.phases, &dispatch.phases);
        self.next = 0;
        for reading in &dispatch.readings {
            self.add_value(reading);
        }
    }

    fn add_value(&mut self, reading: &ReadingRow) {
        let value = reading.value.as_f64();
        let same = |known: &ValueTotals| {
            known.first.pass == reading.pass
                && known.first.instance == reading.instance
                && known.first.derived == reading.derived
                && known.first.way == reading.way
                && known.first.counter == reading.counter
        };
        // Most dispatches have their values in one order: for each to look at all others would take the square of them.
        let place = match self.values.get(self.next) {
            Some(next) if same(next) => self.next,
            _ => self.values.iter().position(same).unwrap_or(self.values.len()),
        };
        self.next = place + 1;
        match self.values.get_mut(place) {
            Some(known) => known.add(value, reading.bound),
            None => self.values.push(ValueTotals {
                first: reading.clone(),
                bound: reading.bound,
                dispatches: 1,
                sum: value,
                mean: value,
                min: value,
                max: value,
            }),
        }
    }
}

impl ValueTotals {
    fn add(&mut self, value: f64, bound: Option<f64>) {
        self.dispatches += 1;
        self.bound = match (self.bound, bound) {
            (Some(known), Some(more)) => Some(known.max(more)),
            (known, more) => known.or(more),
        };
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        // A sum of counts is exact, so that a mean that is whole is seen to be; that of other numbers may round past them.
        self.sum += value;
        let mean = self.sum / self.dispatches as f64;
        self.mean = if mean < self.min {
            self.min
        } else if mean > self.max {
            self.max
        } else {
            mean
        };
    }
}

#[cfg(test)]
mod tests {
    use kreplay_protocol::Value;
    use kreplay_store::CounterRow;

    use super::*;

    fn reading(name: &str, value: f64) -> ReadingRow {
        ReadingRow {
            counter: CounterRow { name: name.into(), unit: String::new(), block: String::new() },
            pass: Some(0),
            instance: 0,
            value: Value::Real(value),
            derived: false,
            bound: None,
            way: None,
        }
    }

    fn mean(values: &[f64]) -> f64 {
        let mut kernel = KernelTotals::new("k", "chip", true);
        values.iter().for_each(|value| kernel.add_value(&reading("A", *value)));
        kernel.values[0].mean
    }

    #[test]
    fn values_are_told_apart_in_whatever_order_they_come() {
        let mut kernel = KernelTotals::new("k", "chip", true);
        for dispatch in ["ABC", "CBA", "B", "AC", "DBA", "ABCD"] {
            kernel.next = 0;
            dispatch.chars().for_each(|name| kernel.add_value(&reading(&name.to_string(), f64::from(u32::from(name)))));
        }
        let found: Vec<_> = kernel.values.iter().map(|value| (&*value.first.counter.name, value.dispatches)).collect();
        assert_eq!(found, [("A", 5), ("B", 5), ("C", 4), ("D", 2)]);
        assert!(kernel.values.iter().all(|value| value.min == value.max));
    }

    #[test]
    fn a_mean_is_as_exact_as_its_values() {
        let counts: Vec<f64> = (0..1000).map(|at| f64::from(at * at % 97)).collect();
        for many in 1..=counts.len() {
            assert_eq!(mean(&counts[..many]), counts[..many].iter().sum::<f64>() / many as f64);
        }
        assert_eq!(mean(&[0.1; 10]), 0.1, "none differs from it");
        assert!(mean(&[1.0, f64::NAN, 2.0]).is_nan());
        assert_eq!(mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }
}
