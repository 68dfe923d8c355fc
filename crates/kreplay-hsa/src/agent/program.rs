//! What the program has submitted and the device has not finished: needed to drain an agent.
//!
//! Each queue counts its submissions ([`QueueWork`]). Copies in flight are in a list, and whoever waits for them looks at
//! their signals himself: the thread that would be told of their end may be held up by a handler of the program's.

use super::queue_work::QueueWork;
use super::waits::Waits;
use crate::abi::Queue;
use kreplay_engine::AgentError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(2);
/// Looks before the first sleep.
const YIELDS: u32 = 64;

/// A copy of the program's in flight.
pub(crate) trait Flight: Send + Sync {
    /// Whether it is over; then what follows from that has been done.
    fn look(&self) -> bool;
}

/// The program's work on one agent.
pub(crate) struct ProgramWork {
    queues: Mutex<BTreeMap<u64, Arc<QueueWork>>>,
    /// Copies that are not over, as far as anybody has looked.
    copies: Mutex<Vec<Arc<dyn Flight>>>,
    /// Submissions and copies so far.
    submissions: AtomicU64,
    waits: Arc<Waits>,
}

impl ProgramWork {
    /// Nothing submitted.
    pub(crate) fn new(waits: Arc<Waits>) -> Self {
        Self { queues: Mutex::default(), copies: Mutex::default(), submissions: AtomicU64::new(0), waits }
    }

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
    pub(crate) fn copy_begins(&self, copy: Arc<dyn Flight>) {
        self.submits();
        self.flights().push(copy);
    }

    /// A copy is over, or was not submitted.
    pub(crate) fn copy_ends(&self, copy: &Arc<dyn Flight>) {
        self.flights().retain(|other| !Arc::ptr_eq(other, copy));
    }

    /// Waits until nothing of the program is left on the agent.
    pub(crate) fn drain(&self, deadline: Instant) -> Result<(), AgentError> {
        let queues: Vec<_> = self.lock().values().cloned().collect();
        let mut backoff = Backoff::default();
        // Those that wait for the host come last: what the others do may still end their waits.
        loop {
            let is_busy = |queue: &&Arc<QueueWork>| !queue.is_over(queue.last());
            let (mut busy, mut stuck) = (false, false);
            for queue in queues.iter().filter(is_busy) {
                match self.waits.is_stuck(queue, queue.last()) {
                    true => stuck = true,
                    false => busy = true,
                }
            }
            match (busy, stuck) {
                (false, false) => break,
                (false, true) => return Err(stuck_queue()),
                (true, _) => backoff.until(deadline, "the program's queues")?,
            }
        }
        while self.flies() {
            backoff.until(deadline, "the program's copies")?;
        }
        Ok(())
    }

    /// Whether a copy is not over.
    fn flies(&self) -> bool {
        // Not under the lock: what ends a copy takes it out of the list.
        let copies: Vec<_> = self.flights().clone();
        copies.into_iter().filter(|copy| !copy.look()).count() > 0
    }

    fn flights(&self) -> std::sync::MutexGuard<'_, Vec<Arc<dyn Flight>>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<QueueWork>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stuck_queue() -> AgentError {
    AgentError::Failed {
        call: "waiting for the program's queues",
        status: "one waits for a signal that the host, or something submitted later, has to lower".to_owned(),
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
