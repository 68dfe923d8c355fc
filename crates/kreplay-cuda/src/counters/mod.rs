//! Hardware counters of a CUDA device, through CUPTI.
//!
//! ```text
//!  planning   a request into passes, each of a way; works without a GPU
//!  seam       the engine's `Counters`: windows, and each pass handed to its way (`ways`)
//!   ├─ ranges     the Range Profiler: the hardware is read around each dispatch
//!   ├─ sampling   samples of the whole GPU, and fences that keep dispatches apart
//!   └─ timing     events around each dispatch
//!  gather     the readings of a window, from the threads that make them (`beside`)
//!  sharing    other processes and contexts on the GPU
//!  device     what CUPTI says about a GPU; `prepare` programs it for the first window; `exit` ends before CUPTI does
//! ```

mod beside;
mod device;
mod exit;
mod gather;
mod planning;
mod prepare;
mod ranges;
mod sampling;
mod seam;
mod sharing;
mod timing;
mod ways;

#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
mod start_gpu_tests;

pub(crate) use beside::beside;
pub(crate) use device::{Availability, KnownAvailability, availability, chip_of};
pub(crate) use planning::answers::Known;
pub(crate) use planning::host::supported_chips;
pub(crate) use planning::list::list;
pub(crate) use planning::plan::plan_request;
pub(crate) use planning::sets::find as find_set;
pub(crate) use seam::{Conduct, CudaCounters};
pub(crate) use sharing::lock::is_counted_on;

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
