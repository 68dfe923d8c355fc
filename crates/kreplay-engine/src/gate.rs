//! The agent's gate: who may use the agent now.
//!
//! Every operation of the program holds it shared while it is submitted; a window holds it alone, from drain to
//! release. Holds are owned: they may be given to another thread. Taking it shared costs one compare-and-swap when no
//! window is open or wanted, and so does taking it alone when nobody has it or waits; then nobody is woken either, and no
//! lock is taken.
//!
//! *Fairness.* A window that waits stops new shared holds, so a stream of launches cannot keep it out; when a window
//! releases the gate, every shared hold that waits by then goes first, so a stream of windows cannot keep them out.
//!
//! *Nesting.* A thread that has the gate (shared or alone) gets a shared hold at once; it never waits for itself. It
//! cannot open a window then: the engine declines such a dispatch.

use crate::lock::lock;
use crate::thread;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Low half of the state: shared holds. Next 30 bits: windows that wait. Then whether shared holds wait. Top bit: a window
/// has the gate.
const ONE_SHARED: u64 = 1;
const SHARED: u64 = 0xffff_ffff;
const ONE_WAITING: u64 = 1 << 32;
const WAITING: u64 = 0x3fff_ffff << 32;
const QUEUED: u64 = 1 << 62;
const ALONE: u64 = 1 << 63;

/// Gates that a thread remembers before it forgets those that it does not hold.
const REMEMBERED: usize = 32;

/// See the module.
#[derive(Default)]
pub(crate) struct Gate {
    state: AtomicU64,
    /// The thread that has the gate alone, or 0.
    owner: AtomicU64,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Shared holds that wait; [`QUEUED`] says whether there are any.
    waiting: u32,
    /// Of these, how many go before the next window.
    admitted: u32,
}

/// Shared holds of one gate that one thread took.
struct Holds {
    gate: Arc<Gate>,
    count: AtomicU32,
}

thread_local! {
    static HOLDS: RefCell<Vec<Arc<Holds>>> = const { RefCell::new(Vec::new()) };
}

impl Gate {
    /// Whether this thread has the gate, shared or alone.
    pub(crate) fn entered(self: &Arc<Self>) -> bool {
        let holds = |holds: &RefCell<Vec<Arc<Holds>>>| {
            holds.borrow().iter().any(|own| Arc::ptr_eq(&own.gate, self) && own.count.load(Ordering::Relaxed) > 0)
        };
        self.owned() || HOLDS.try_with(holds).unwrap_or(false)
    }

    /// Whether this thread has the gate alone.
    pub(crate) fn owned(&self) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner != 0 && owner == thread::number()
    }

    /// Takes the gate shared; waits while a window of another thread is open.
    pub(crate) fn share(self: &Arc<Self>) -> Shared {
        if self.owned() {
            return Shared(Hold::Within);
        }
        let holds = self.holds();
        let nested = holds.as_ref().is_some_and(|holds| holds.count.load(Ordering::Relaxed) > 0);
        if nested {
            // This thread keeps every window out already: waiting for one that waits would be a deadlock.
            self.state.fetch_add(ONE_SHARED, Ordering::Acquire);
        } else if !self.try_share() {
            self.share_slowly();
        }
        Shared(self.counted(holds))
    }

    /// A shared hold that is in the state already, of the thread with these.
    fn counted(self: &Arc<Self>, holds: Option<Arc<Holds>>) -> Hold {
        let Some(holds) = holds else { return Hold::Uncounted(Arc::clone(self)) };
        holds.count.fetch_add(1, Ordering::Relaxed);
        Hold::Counted(holds)
    }

    fn try_share(&self) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while state & (ALONE | WAITING) == 0 {
            match self.state.compare_exchange_weak(state, state + ONE_SHARED, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    #[cold]
    fn share_slowly(&self) {
        let mut queue = lock(&self.queue);
        queue.waiting += 1;
        // Before the first look: whoever lets go after it sees that somebody waits, and takes the lock.
        self.state.fetch_or(QUEUED, Ordering::Relaxed);
        loop {
            if queue.admitted > 0 && self.state.load(Ordering::Relaxed) & ALONE == 0 {
                queue.admitted -= 1;
                self.state.fetch_add(ONE_SHARED, Ordering::Acquire);
                break;
            }
            if self.try_share() {
                break;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.waiting -= 1;
        queue.admitted = queue.admitted.min(queue.waiting);
        if queue.waiting == 0 {
            self.state.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }

    /// Takes the gate alone, if nobody has it, this thread included, and nobody waits for it.
    pub(crate) fn try_close(self: &Arc<Self>) -> Option<Alone> {
        self.state.compare_exchange(0, ALONE, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(self.alone())
    }

    /// Takes the gate alone; `None` when `deadline` passes first, or when this thread has the gate already.
    pub(crate) fn close(self: &Arc<Self>, deadline: Instant) -> Option<Alone> {
        self.try_close().or_else(|| if self.entered() { None } else { self.close_slowly(deadline) })
    }

    #[cold]
    fn close_slowly(self: &Arc<Self>, deadline: Instant) -> Option<Alone> {
        let mut queue = lock(&self.queue);
        self.state.fetch_add(ONE_WAITING, Ordering::Relaxed);
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if queue.admitted == 0 && state & (ALONE | SHARED) == 0 {
                let taken = (state - ONE_WAITING) | ALONE;
                if self.state.compare_exchange(state, taken, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    return Some(self.alone());
                }
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.state.fetch_sub(ONE_WAITING, Ordering::Relaxed);
                self.changed.notify_all();
                return None;
            }
            queue = self.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// This thread has the gate alone, as the state says.
    fn alone(self: &Arc<Self>) -> Alone {
        self.owner.store(thread::number(), Ordering::Relaxed);
        Alone { gate: Arc::clone(self) }
    }

    /// What this thread holds of this gate; `None` past the end of thread-local storage.
    fn holds(self: &Arc<Self>) -> Option<Arc<Holds>> {
        HOLDS
            .try_with(|holds| {
                if let Some(own) = holds.borrow().iter().find(|own| Arc::ptr_eq(&own.gate, self)) {
                    return Arc::clone(own);
                }
                self.remember(&mut holds.borrow_mut())
            })
            .ok()
    }

    #[cold]
    fn remember(self: &Arc<Self>, holds: &mut Vec<Arc<Holds>>) -> Arc<Holds> {
        if holds.len() >= REMEMBERED {
            holds.retain(|own| Arc::strong_count(own) > 1);
        }
        let own = Arc::new(Holds { gate: Arc::clone(self), count: AtomicU32::new(0) });
        holds.push(Arc::clone(&own));
        own
    }
}

/// The gate, held shared. Dropping it lets go.
pub(crate) struct Shared(Hold);

enum Hold {
    /// The thread had the gate alone already.
    Within,
    /// Of the thread that these are of.
    Counted(Arc<Holds>),
    /// Of a thread past the end of its storage.
    Uncounted(Arc<Gate>),
}

impl Shared {
    /// Whether the thread that took it had the gate already, shared or alone.
    pub(crate) fn is_nested(&self) -> bool {
        match &self.0 {
            Hold::Within => true,
            Hold::Counted(holds) => holds.count.load(Ordering::Relaxed) > 1,
            Hold::Uncounted(_) => false,
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let gate = match &self.0 {
            Hold::Within => return,
            Hold::Counted(holds) => {
                holds.count.fetch_sub(1, Ordering::Relaxed);
                &holds.gate
            }
            Hold::Uncounted(gate) => gate,
        };
        let before = gate.state.fetch_sub(ONE_SHARED, Ordering::Release);
        if before & SHARED == 1 && before & WAITING != 0 {
            gate.wake();
        }
    }
}

impl Gate {
    /// Somebody who waits may go on.
    #[cold]
    fn wake(&self) {
        drop(lock(&self.queue));
        self.changed.notify_all();
    }

    /// A window lets go, and others wait.
    #[cold]
    fn reopen(&self) {
        let mut queue = lock(&self.queue);
        queue.admitted = queue.waiting;
        self.state.fetch_and(!ALONE, Ordering::Release);
        drop(queue);
        self.changed.notify_all();
    }
}

/// The gate, held alone. Dropping it lets go.
pub(crate) struct Alone {
    gate: Arc<Gate>,
}

impl Alone {
    /// Goes on with a shared hold of this thread, without letting a window of another thread in between.
    pub(crate) fn downgrade(self) -> Shared {
        let gate = &self.gate;
        gate.state.fetch_add(ONE_SHARED, Ordering::Relaxed);
        let hold = gate.counted(gate.holds());
        drop(self);
        Shared(hold)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let gate = &self.gate;
        gate.owner.store(0, Ordering::Relaxed);
        // Who begins to wait after this look finds the gate open; who did before is seen by it.
        if gate.state.compare_exchange(ALONE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            gate.reopen();
        }
    }
}

#[cfg(test)]
mod tests;
