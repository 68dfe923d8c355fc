//! What one queue of the program has submitted and the device has not finished.
//!
//! The queue has a signal that counts its submissions that are not over; the interceptor raises it before it passes packets
//! on, and the device lets it fall.

use super::signals::create;
use crate::abi::Signal;
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Submissions on one queue of the program.
pub(crate) struct QueueWork {
    api: Api,
    /// Counts submissions that are not over.
    pub(crate) pending: Signal,
    /// Submissions so far; each has the number that it makes here.
    submitted: AtomicU64,
    /// The number of the last submission that is more than barriers.
    working: AtomicU64,
    /// Launches that may get a window now: what they wait for on the queue must be over before.
    launching: AtomicU32,
    /// Whether the queue went into error: nothing on it will finish any more.
    pub(crate) dead: AtomicBool,
    destroyed: AtomicBool,
}

/// A launch is being submitted that may get a window.
pub(crate) struct Launching<'a>(&'a QueueWork);

impl Drop for Launching<'_> {
    fn drop(&mut self) {
        self.0.launching.fetch_sub(1, Ordering::AcqRel);
    }
}

impl QueueWork {
    /// Nothing submitted.
    pub(crate) fn new(api: Api) -> Result<Self, AgentError> {
        Ok(Self {
            api,
            pending: create(&api, 0)?,
            submitted: AtomicU64::new(0),
            working: AtomicU64::new(0),
            launching: AtomicU32::new(0),
            dead: AtomicBool::new(false),
            destroyed: AtomicBool::new(false),
        })
    }

    /// A submission is about to be made: its number. The device is to lower the counter after everything that was submitted before,
    /// too, unless the submission is a single kernel. Under the queue's lock.
    pub(crate) fn submits(&self, works: bool) -> u64 {
        // Raised first: what is not over is never taken for over.
        // SAFETY: the counter is not destroyed.
        unsafe { (self.api.signal_add)(self.pending, 1) };
        let number = self.submitted.load(Ordering::Acquire) + 1;
        if works {
            self.working.store(number, Ordering::Release);
        }
        self.submitted.store(number, Ordering::Release);
        number
    }

    /// A launch comes that may get a window.
    pub(crate) fn launching(&self) -> Launching<'_> {
        self.launching.fetch_add(1, Ordering::AcqRel);
        Launching(self)
    }

    /// The number of the last submission.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Whether everything up to the submission with this number is over, or will never be.
    pub(crate) fn is_over(&self, number: u64) -> bool {
        if self.dead.load(Ordering::Acquire) || self.destroyed.load(Ordering::Acquire) {
            return true;
        }
        let submitted = self.submitted();
        // SAFETY: the counter is not destroyed.
        let pending = unsafe { (self.api.signal_load)(self.pending) }.max(0) as u64;
        submitted.saturating_sub(pending) >= number
    }

    /// Whether the queue has nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_over(self.submitted())
    }

    /// The number of the last submission that a window must not open over. Barriers with nothing behind them harm none but
    /// that of a launch behind them.
    pub(super) fn last(&self) -> u64 {
        let launching = self.launching.load(Ordering::Acquire) > 0;
        if launching { self.submitted() } else { self.working.load(Ordering::Acquire) }
    }

    /// Gives the counter back to the runtime.
    pub(super) fn destroy(&self) {
        if !self.destroyed.swap(true, Ordering::AcqRel) {
            // SAFETY: the queue is destroyed or idle for good, so the device does not touch the counter any more.
            unsafe { (self.api.signal_destroy)(self.pending) };
        }
    }
}

impl Drop for QueueWork {
    fn drop(&mut self) {
        self.destroy();
    }
}
