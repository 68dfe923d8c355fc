//! What the program has submitted and the device has not finished: needed to drain an agent.
//!
//! Each queue of the program has a signal that counts its submissions that are not over; the interceptor raises it before
//! it passes packets on, and the device lets it fall. Copies are counted by the interceptor and by the handlers of their
//! completion signals.

use super::signals::create;
use crate::abi::{Queue, Signal};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(2);
/// Looks before the first sleep.
const YIELDS: u32 = 64;

/// Submissions on one queue of the program.
pub(crate) struct QueueWork {
    api: Api,
    /// Counts submissions that are not over.
    pub(crate) pending: Signal,
    /// Whether the queue went into error: nothing on it will finish any more.
    pub(crate) dead: AtomicBool,
    destroyed: AtomicBool,
}

impl QueueWork {
    /// Nothing submitted.
    pub(crate) fn new(api: Api) -> Result<Self, AgentError> {
        Ok(Self { api, pending: create(&api, 0)?, dead: AtomicBool::new(false), destroyed: AtomicBool::new(false) })
    }

    /// Whether the queue has nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        let gone = self.dead.load(Ordering::Acquire) || self.destroyed.load(Ordering::Acquire);
        // SAFETY: the counter is not destroyed.
        gone || unsafe { (self.api.signal_load)(self.pending) } <= 0
    }
}

impl QueueWork {
    fn destroy(&self) {
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

/// The program's work on one agent.
#[derive(Default)]
pub(crate) struct ProgramWork {
    queues: Mutex<BTreeMap<u64, Arc<QueueWork>>>,
    /// Copies that are not over.
    copies: AtomicI64,
    /// Submissions and copies so far.
    submissions: AtomicU64,
}

impl ProgramWork {
    /// A queue was made.
    pub(crate) fn add_queue(&self, queue: *mut Queue, work: Arc<QueueWork>) {
        self.lock().insert(queue as u64, work);
    }

    /// A queue is about to be destroyed.
    pub(crate) fn remove_queue(&self, queue: *mut Queue) {
        self.lock().remove(&(queue as u64));
    }

    /// The program ends and nothing is counted any more: gives back the counters of queues that are idle.
    pub(crate) fn close(&self) {
        for queue in std::mem::take(&mut *self.lock()).into_values().filter(|queue| queue.is_idle()) {
            queue.destroy();
        }
    }

    /// Packets are about to be passed on.
    pub(crate) fn submits(&self) {
        self.submissions.fetch_add(1, Ordering::AcqRel);
    }

    /// Submissions and copies so far.
    pub(crate) fn submissions(&self) -> u64 {
        self.submissions.load(Ordering::Acquire)
    }

    /// A copy is about to be submitted.
    pub(crate) fn copy_begins(&self) {
        self.submits();
        self.copies.fetch_add(1, Ordering::AcqRel);
    }

    /// A copy is over, or was not submitted.
    pub(crate) fn copy_ends(&self) {
        self.copies.fetch_sub(1, Ordering::AcqRel);
    }

    /// Waits until nothing of the program is left on the agent.
    pub(crate) fn drain(&self, deadline: Instant) -> Result<(), AgentError> {
        let queues: Vec<_> = self.lock().values().cloned().collect();
        let mut backoff = Backoff::default();
        for queue in queues {
            while !queue.is_idle() {
                backoff.until(deadline, "the program's queues")?;
            }
        }
        while self.copies.load(Ordering::Acquire) > 0 {
            backoff.until(deadline, "the program's copies")?;
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<QueueWork>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waiting between two looks: first yields, then sleeps that double.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    looks: u32,
    sleep: Duration,
}

impl Backoff {
    /// Waits a little.
    ///
    /// # Errors
    /// [`AgentError::Deadline`] when `deadline` has passed.
    pub(crate) fn until(&mut self, deadline: Instant, what: &'static str) -> Result<(), AgentError> {
        if self.looks < YIELDS {
            self.looks += 1;
            std::thread::yield_now();
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(AgentError::Deadline { what });
        }
        self.sleep = (self.sleep * 2).clamp(Duration::from_micros(50), LONGEST_SLEEP);
        std::thread::sleep(self.sleep);
        Ok(())
    }
}
