//! From what the device stored to readings.

use super::catalogue::{Catalogue, DERIVED};
use super::expression::Evaluation;
use super::ffi::Event;
use super::library::Library;
use super::profile::{is_narrow, untouched};
use super::sampling::Sums;
use super::window::Stored;
use kreplay_engine::{CountersError, Delivery, LostReadings, Plan, PlannedPass, Reading, Value};
use std::collections::BTreeMap;

/// Properties of the device that metrics use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Dies that each have the counters of one (XCC): 1 but for gfx942.
    pub dies: u32,
    /// Shader engines of all dies.
    pub shader_engines: u32,
    /// Compute units of all dies.
    pub compute_units: u32,
    /// SIMDs of a compute unit: 4 on gfx9, 2 on gfx11.
    pub simds_per_compute_unit: u32,
    /// Lanes of a wave.
    pub wave_size: u32,
}

impl Device {
    fn constant(&self, name: &str) -> Option<f64> {
        Some(f64::from(match name {
            "XCC_NUM" => self.dies,
            "SE_NUM" => self.shader_engines,
            "CU_NUM" => self.compute_units,
            "SIMD_NUM" => self.compute_units * self.simds_per_compute_unit,
            "WAVE_SIZE" => self.wave_size,
            _ => return None,
        }))
    }
}

/// Everything that decoding needs and that does not change.
#[derive(Debug)]
pub(super) struct Decoder {
    pub(super) library: Library,
    pub(super) agent: u64,
    pub(super) catalogue: Catalogue,
    pub(super) device: Device,
}

/// Values of counters by dispatch, pass and name.
type Values<'a> = BTreeMap<(u32, u32, &'a str), u64>;

impl Decoder {
    /// The readings of a window, in dispatch order, then by pass, then as planned. What cannot be decoded of a dispatch in a pass is
    /// lost, and nothing else.
    pub(super) fn readings(&self, plan: &Plan, passes: Vec<Stored>, sampled: Vec<(PlannedPass, Sums)>) -> Delivery {
        let mut values = Values::new();
        let mut order: Vec<(u32, &PlannedPass)> = Vec::new();
        let (mut decoded, mut lost) = (Vec::new(), Vec::new());
        for stored in passes {
            let Stored { pass, events, around } = stored;
            for (dispatch, before, after) in around {
                match self.difference(&events, before, after) {
                    Ok(sums) => decoded.push((pass.index, dispatch, sums)),
                    Err(why) => lost.push(LostReadings { dispatches: Some(dispatch..dispatch + 1), why }),
                }
            }
        }
        for (pass, sums) in sampled {
            let own = |(dispatch, sums): (u32, Vec<_>)| (pass.index, dispatch, sums.into_iter().collect());
            decoded.extend(sums.into_iter().map(own));
        }
        for (index, dispatch, sums) in decoded {
            let Some(pass) = plan.passes.iter().find(|pass| pass.index == index) else { continue };
            order.push((dispatch, pass));
            for counter in &pass.counters {
                if let Some(value) = self.event(&counter.name).and_then(|event| sums.get(&event)) {
                    values.insert((dispatch, pass.index, &counter.name), *value);
                }
            }
        }
        order.sort_by_key(|(dispatch, pass)| (*dispatch, pass.index));
        let mut readings = Vec::new();
        for (dispatch, pass) in order {
            for counter in &pass.counters {
                let derived = &*counter.block == DERIVED;
                let value = if derived {
                    self.metric(&counter.name, dispatch, pass.index, &values).map(Value::Real)
                } else {
                    values.get(&(dispatch, pass.index, &*counter.name)).copied().map(Value::Count)
                };
                let (counter, unit) = (counter.name.clone(), counter.unit.clone());
                readings.extend(value.map(|value| Reading {
                    dispatch,
                    pass: pass.index,
                    counter,
                    unit,
                    value,
                    derived,
                    bound: None,
                }));
            }
        }
        Delivery { readings, lost }
    }

    /// Block and event number of a counter.
    fn event(&self, name: &str) -> Option<(u32, u32)> {
        let counter = self.catalogue.counter(name)?;
        Some((self.catalogue.block(counter.block)?.id, counter.event))
    }

    /// A metric from the counters of its pass, or else of the nearest pass before it. `None` where a counter is missing
    /// or the metric is not defined (a division by zero).
    fn metric(&self, name: &str, dispatch: u32, pass: u32, values: &Values<'_>) -> Option<f64> {
        let value = |name: &str| {
            self.device.constant(name).or_else(|| {
                (0..=pass).rev().find_map(|pass| values.get(&(dispatch, pass, name))).map(|value| *value as f64)
            })
        };
        match self.catalogue.metric(name)?.expression.evaluate(&value) {
            Evaluation::Value(value) => Some(value),
            Evaluation::Missing(_) | Evaluation::Undefined => None,
        }
    }

    /// What every event counted between two readings, summed over instances and samples.
    fn difference(
        &self,
        events: &[Event],
        mut before: Vec<u64>,
        mut after: Vec<u64>,
    ) -> Result<BTreeMap<(u32, u32), u64>, CountersError> {
        let before = self.library.decode(self.agent, events, &mut before)?;
        let after = self.library.decode(self.agent, events, &mut after)?;
        if before.is_empty() || untouched(&before) || untouched(&after) {
            return Err(CountersError::Discarded("the device did not store what a reading asked for".to_owned()));
        }
        if before.len() != after.len() {
            return Err(CountersError::Discarded(
                "two readings of the same counters have different lengths".to_owned(),
            ));
        }
        let mut sums = BTreeMap::new();
        for ((event, from), (_, to)) in before.into_iter().zip(after) {
            let counted = match (is_narrow(from), is_narrow(to)) {
                // It may have gone round once.
                (true, true) => Some(u64::from((to as u32).wrapping_sub(from as u32))),
                (false, false) => to.checked_sub(from),
                _ => {
                    return Err(CountersError::Discarded(format!(
                        "event {} of block {} was stored in 32 bits once and in 64 once",
                        event.event, event.block
                    )));
                }
            };
            let counted = counted.ok_or_else(|| {
                CountersError::Discarded(format!(
                    "event {} of block {} went backwards: another profiler may use the counters",
                    event.event, event.block
                ))
            })?;
            *sums.entry((event.block, event.event)).or_insert(0) += counted;
        }
        Ok(sums)
    }
}
