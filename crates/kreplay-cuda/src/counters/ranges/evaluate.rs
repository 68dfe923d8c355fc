//! Turning counter images into readings, on a thread beside the program.

use super::images::Storage;
use super::session::range_count;
use crate::counters::beside::{Owed, beside};
use crate::counters::gather::Part;
use crate::counters::planning::host::Host;
use crate::counters::planning::range_group::Group;
use crate::tables::{Cupti, CuptiError};
use kreplay_engine::{CountersError, PlannedCounter, Reading, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// A finished image of a group.
#[derive(Debug)]
pub(in crate::counters) struct Image {
    pub(in crate::counters) group: Arc<Group>,
    /// What is reported, in the order of the group's metrics.
    pub(in crate::counters) counters: Arc<[PlannedCounter]>,
    /// The pass that the values are reported under: the group's last.
    pub(in crate::counters) pass: u32,
    pub(in crate::counters) storage: Storage,
}

/// A window's images.
pub(in crate::counters) struct Job {
    pub(in crate::counters) images: Vec<Image>,
    /// Why there are no values.
    pub(in crate::counters) broken: Option<CountersError>,
    /// Which range of an image each dispatch is.
    pub(in crate::counters) order: Vec<u32>,
    /// How many ranges an image must hold.
    pub(in crate::counters) launches: u32,
    /// Takes the readings.
    pub(in crate::counters) part: Part,
    /// Takes the images' storage back.
    pub(in crate::counters) give_back: Box<dyn FnOnce(Vec<Image>) + Send>,
}

/// The thread, started at the first job.
pub(in crate::counters) struct Evaluator {
    cupti: Arc<Cupti>,
    chip: Arc<str>,
    availability: Arc<[u8]>,
    sender: Mutex<Option<Sender<Job>>>,
    owed: Owed,
}

impl Evaluator {
    pub(in crate::counters) fn new(cupti: Arc<Cupti>, chip: Arc<str>, availability: Arc<[u8]>) -> Self {
        Self { cupti, chip, availability, sender: Mutex::new(None), owed: Owed::default() }
    }

    /// Evaluates a job beside the program, or here when no thread can be had.
    pub(in crate::counters) fn submit(&self, job: Job) {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if sender.is_none() {
            *sender = self.start();
        }
        let left = match sender.as_ref() {
            Some(sender) => sender.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        drop(sender);
        if let Some(job) = left {
            run(&self.cupti, &self.chip, &self.availability, &mut HashMap::new(), job);
        }
    }

    fn start(&self) -> Option<Sender<Job>> {
        let (sender, receiver) = channel::<Job>();
        let cupti = Arc::clone(&self.cupti);
        let (chip, availability) = (Arc::clone(&self.chip), Arc::clone(&self.availability));
        let started = beside("kreplay-count", move || {
            let mut hosts = HashMap::new();
            for job in receiver {
                run(&cupti, &chip, &availability, &mut hosts, job);
            }
        });
        started.then_some(sender)
    }

    /// What jobs are counted by until they are done.
    pub(in crate::counters) fn owed(&self) -> &Owed {
        &self.owed
    }

    /// Waits until every job is done.
    pub(in crate::counters) fn flush(&self) {
        self.owed.wait();
    }
}

/// Host objects that know a group's metrics, by the group.
type Hosts<'a> = HashMap<usize, Host<&'a Cupti>>;

fn run<'a>(cupti: &'a Cupti, chip: &str, availability: &[u8], hosts: &mut Hosts<'a>, job: Job) {
    let Job { images, broken, order, launches, part, give_back } = job;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if let Some(error) = broken {
            return Err(error);
        }
        let mut readings = Vec::new();
        for image in &images {
            evaluate(cupti, chip, availability, hosts, image, (&order, launches), &mut readings)?;
        }
        Ok(readings)
    }));
    let result = result.unwrap_or_else(|_| Err(CountersError::Discarded("evaluating them panicked".into())));
    part.finish(result);
    give_back(images);
}

pub(in crate::counters) fn evaluate<'a>(
    cupti: &'a Cupti,
    chip: &str,
    availability: &[u8],
    hosts: &mut Hosts<'a>,
    image: &Image,
    (order, launches): (&[u32], u32),
    readings: &mut Vec<Reading>,
) -> Result<(), CountersError> {
    let key = Arc::as_ptr(&image.group) as usize;
    let host = match hosts.entry(key) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(Host::new(cupti, chip, availability).map_err(failed)?),
    };
    let ranges = range_count(cupti, &image.storage.bytes).map_err(failed)?;
    if ranges != launches as usize {
        return Err(CountersError::Discarded(format!(
            "a pass held {launches} launches and the hardware was read for {ranges}"
        )));
    }
    for (dispatch, range) in order.iter().enumerate() {
        let dispatch = dispatch as u32;
        let values = host.evaluate(&image.storage.bytes, *range as usize, &image.group.names).map_err(failed)?;
        for (counter, value) in image.counters.iter().zip(values) {
            readings.push(Reading {
                dispatch,
                pass: image.pass,
                counter: Arc::clone(&counter.name),
                unit: Arc::clone(&counter.unit),
                value: exact(&counter.name, value),
                derived: image.group.config.passes > 1 || is_ratio(&counter.name),
                bound: None,
            });
        }
    }
    Ok(())
}

/// Whether a metric is one counter divided by another, by its ending.
fn is_ratio(name: &str) -> bool {
    let ending = name.split_once('.').map_or("", |(_, ending)| ending);
    ["pct", "ratio", "per_"].iter().any(|part| ending.contains(part))
}

/// Sums of counters are whole numbers; everything else is real.
pub(in crate::counters) fn exact(name: &str, value: f64) -> Value {
    const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;
    let sum = name.ends_with(".sum") || name.ends_with(".max") || name.ends_with(".min");
    if sum && value >= 0.0 && value.fract() == 0.0 && value < LARGEST_WHOLE {
        Value::Count(value as u64)
    } else {
        Value::Real(value)
    }
}

pub(in crate::counters) fn failed(error: CuptiError) -> CountersError {
    use crate::tables::CuptiStatus;
    match error.status {
        CuptiStatus::INSUFFICIENT_PRIVILEGES | CuptiStatus::HARDWARE_BUSY => {
            CountersError::Unavailable(error.to_string())
        }
        status => CountersError::Failed { call: error.call, status: status.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_counts_and_ratios_are_real() {
        assert_eq!(exact("sm__inst_executed.sum", 130_240.0), Value::Count(130_240));
        assert_eq!(exact("lts__t_sector_hit_rate.pct", 100.0), Value::Real(100.0));
        assert_eq!(exact("x.sum", 0.5), Value::Real(0.5));
        assert!(is_ratio("sm__warps_active.avg.pct_of_peak_sustained_active") && is_ratio("a__b.ratio"));
        assert!(!is_ratio("sm__inst_executed.sum") && !is_ratio("sm__cycles_active.avg"));
    }
}
