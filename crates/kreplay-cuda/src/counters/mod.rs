//! Hardware counters of a CUDA device, through CUPTI.
//!
//! *Planning* needs no GPU: CUPTI's Profiler Host interface says for a chip what can be counted and how many passes a list
//! of metrics takes. *Counting* is done by the Range Profiler: the hardware is programmed for a pass, read around each
//! dispatch, and the raw values are decoded into a counter image, which is evaluated on a thread beside the program.

mod ahead;
mod alone;
mod answers;
mod beside;
mod bounds;
mod busy;
mod choice;
mod device;
mod evaluate;
mod exit;
mod gather;
mod host;
mod images;
mod list;
mod lock;
mod names;
mod patience;
mod plan;
mod planner;
mod prepare;
mod price;
mod range;
mod range_group;
mod ranges;
mod reach;
mod room;
mod samples;
mod sampling;
mod seam;
mod sessions;
mod sets;
mod timing;
mod watch;
mod ways;

#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod pinned_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod reach_gpu_tests;
#[cfg(test)]
mod start_gpu_tests;

pub(crate) use answers::Known;
pub(crate) use beside::beside;
pub(crate) use device::{Availability, KnownAvailability, availability, chip_of};
pub(crate) use host::supported_chips;
pub(crate) use list::list;
pub(crate) use lock::is_counted_on;
pub(crate) use plan::plan_request;
pub(crate) use seam::{Conduct, CudaCounters};
pub(crate) use sets::find as find_set;

use kreplay_engine::CountersError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what a panicking thread may have left: every change under these locks is complete in itself.
trait Guarded<T> {
    fn guarded(&self) -> MutexGuard<'_, T>;
}

impl<T> Guarded<T> for Mutex<T> {
    fn guarded(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_window() -> CountersError {
    CountersError::Discarded("no window or pass is open".into())
}
