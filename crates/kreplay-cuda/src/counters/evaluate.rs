//! Turning counter images into readings, on a thread beside the program.

use super::host::Host;
use super::planner::Group;
use super::range::range_count;
use crate::tables::{Cupti, CuptiError};
use kreplay_engine::{CountersError, Deliver, PlannedCounter, Reading, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A finished image of a group.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) group: Arc<Group>,
    /// What is reported, in the order of the group's metrics.
    pub(super) counters: Arc<[PlannedCounter]>,
    /// The pass that the values are reported under: the group's last.
    pub(super) pass: u32,
    pub(super) bytes: Vec<u8>,
}

/// A window's images, and who takes their values.
pub(super) struct Job {
    pub(super) images: Vec<Image>,
    /// Readings that are there already, or why there are none.
    pub(super) before: Result<Vec<Reading>, CountersError>,
    /// Which range of an image each dispatch is.
    pub(super) order: Vec<u32>,
    /// How many ranges an image must hold.
    pub(super) launches: u32,
    pub(super) deliver: Deliver,
    /// Takes the images' storage back.
    pub(super) give_back: Box<dyn FnOnce(Vec<Image>) + Send>,
}

/// The thread, started at the first job.
pub(super) struct Evaluator {
    cupti: Arc<Cupti>,
    chip: Arc<str>,
    availability: Arc<[u8]>,
    sender: Mutex<Option<Sender<Job>>>,
    owed: Arc<(Mutex<usize>, Condvar)>,
}

impl Evaluator {
    pub(super) fn new(cupti: Arc<Cupti>, chip: Arc<str>, availability: Arc<[u8]>) -> Self {
        Self { cupti, chip, availability, sender: Mutex::new(None), owed: Arc::default() }
    }

    /// Evaluates a job beside the program, or here when no thread can be had.
    pub(super) fn submit(&self, job: Job) {
        *self.owed.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
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
            done(&self.owed);
        }
    }

    fn start(&self) -> Option<Sender<Job>> {
        let (sender, receiver) = channel::<Job>();
        let (cupti, owed) = (Arc::clone(&self.cupti), Arc::clone(&self.owed));
        let (chip, availability) = (Arc::clone(&self.chip), Arc::clone(&self.availability));
        let thread = std::thread::Builder::new().name("kreplay-count".into()).spawn(move || {
            block_signals();
            let _depth = crate::agent::Depth::enter();
            let mut hosts = HashMap::new();
            for job in receiver {
                run(&cupti, &chip, &availability, &mut hosts, job);
                done(&owed);
            }
        });
        thread.ok().map(|_| sender)
    }

    /// Waits until every job is done.
    pub(super) fn flush(&self) {
        let (owed, changed) = &*self.owed;
        let mut count = owed.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = changed.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn done(owed: &(Mutex<usize>, Condvar)) {
    *owed.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    owed.1.notify_all();
}

/// Signals are for the program's own threads.
fn block_signals() {
    // SAFETY: an all-zero set is a value that `sigfillset` overwrites; the mask is this thread's own.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

/// Host objects that know a group's metrics, by the group.
type Hosts<'a> = HashMap<usize, Host<'a>>;

fn run<'a>(cupti: &'a Cupti, chip: &str, availability: &[u8], hosts: &mut Hosts<'a>, job: Job) {
    let Job { images, before, order, launches, deliver, give_back } = job;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut readings = before?;
        for image in &images {
            evaluate(cupti, chip, availability, hosts, image, (&order, launches), &mut readings)?;
        }
        readings.sort_by_key(|reading| reading.dispatch);
        Ok(readings)
    }));
    let result = result.unwrap_or_else(|_| Err(CountersError::Discarded("evaluating them panicked".into())));
    // A recorder that panics must not end the thread that owes others.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| deliver(result)));
    give_back(images);
}

fn evaluate<'a>(
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
    let ranges = range_count(cupti, &image.bytes).map_err(failed)?;
    if ranges != launches as usize {
        return Err(CountersError::Discarded(format!(
            "a pass held {launches} launches and the hardware was read for {ranges}"
        )));
    }
    for (dispatch, range) in order.iter().enumerate() {
        let dispatch = dispatch as u32;
        let values = host.evaluate(&image.bytes, *range as usize, &image.group.names).map_err(failed)?;
        for (counter, value) in image.counters.iter().zip(values) {
            readings.push(Reading {
                dispatch,
                pass: image.pass,
                counter: Arc::clone(&counter.name),
                unit: Arc::clone(&counter.unit),
                value: exact(&counter.name, value),
                derived: image.group.config.passes > 1,
                bound: None,
            });
        }
    }
    Ok(())
}

/// Sums of counters are whole numbers; everything else is real.
fn exact(name: &str, value: f64) -> Value {
    const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;
    let sum = name.ends_with(".sum") || name.ends_with(".max") || name.ends_with(".min");
    if sum && value >= 0.0 && value.fract() == 0.0 && value < LARGEST_WHOLE {
        Value::Count(value as u64)
    } else {
        Value::Real(value)
    }
}

pub(super) fn failed(error: CuptiError) -> CountersError {
    use crate::tables::CuptiStatus;
    match error.status {
        CuptiStatus::INSUFFICIENT_PRIVILEGES | CuptiStatus(26) => CountersError::Unavailable(error.to_string()),
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
    }
}
