//! The agent's gate: who may use the agent now.
//!
//! Every operation of the program holds it shared while it is submitted; a window holds it alone, from drain to
//! release. Holds are owned: they may be given to another thread. Taking it shared costs one compare-and-swap when no
//! window is open or wanted.
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

/// Low half of the state: shared holds. Next 31 bits: windows that wait. Top bit: a window has the gate.
const ONE_SHARED: u64 = 1;
const SHARED: u64 = 0xffff_ffff;
const ONE_WAITING: u64 = 1 << 32;
const WAITING: u64 = 0x7fff_ffff << 32;
const ALONE: u64 = 1 << 63;

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
    /// Shared holds that wait.
    waiting: u32,
    /// Of these, how many go before the next window.
    admitted: u32,
}

thread_local! {
    /// Shared holds that this thread took, by gate.
    static HOLDS: RefCell<Vec<(usize, Arc<AtomicU32>)>> = const { RefCell::new(Vec::new()) };
}

impl Gate {
    /// Whether this thread has the gate, shared or alone.
    pub(crate) fn entered(self: &Arc<Self>) -> bool {
        self.owned() || self.holds().is_some_and(|holds| holds.load(Ordering::Relaxed) > 0)
    }

    /// Whether this thread has the gate alone.
    pub(crate) fn owned(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == thread::number()
    }

    /// Takes the gate shared; waits while a window of another thread is open.
    pub(crate) fn share(self: &Arc<Self>) -> Shared {
        if self.owned() {
            return Shared { gate: None, holds: None };
        }
        let holds = self.holds();
        let nested = holds.as_ref().is_some_and(|holds| holds.load(Ordering::Relaxed) > 0);
        if nested {
            // This thread keeps every window out already: waiting for one that waits would be a deadlock.
            self.state.fetch_add(ONE_SHARED, Ordering::Acquire);
        } else if !self.try_share() {
            self.share_slowly();
        }
        if let Some(holds) = &holds {
            holds.fetch_add(1, Ordering::Relaxed);
        }
        Shared { gate: Some(Arc::clone(self)), holds }
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
    }

    /// Takes the gate alone; `None` when `deadline` passes first, or when this thread has the gate already.
    pub(crate) fn close(self: &Arc<Self>, deadline: Instant) -> Option<Alone> {
        if self.entered() {
            return None;
        }
        let mut queue = lock(&self.queue);
        self.state.fetch_add(ONE_WAITING, Ordering::Relaxed);
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if queue.admitted == 0 && state & (ALONE | SHARED) == 0 {
                let taken = (state - ONE_WAITING) | ALONE;
                if self.state.compare_exchange(state, taken, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    self.owner.store(thread::number(), Ordering::Relaxed);
                    return Some(Alone { gate: Arc::clone(self) });
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

    /// This thread's counter of shared holds of this gate; `None` past the end of thread-local storage.
    fn holds(self: &Arc<Self>) -> Option<Arc<AtomicU32>> {
        let key = Arc::as_ptr(self) as usize;
        HOLDS
            .try_with(|holds| {
                let mut holds = holds.borrow_mut();
                if let Some((_, count)) = holds.iter().find(|(gate, _)| *gate == key) {
                    return Arc::clone(count);
                }
                // A gate that is gone may leave its address to a new one only when nobody held it any more.
                holds.retain(|(_, count)| Arc::strong_count(count) > 1);
                let count = Arc::new(AtomicU32::new(0));
                holds.push((key, Arc::clone(&count)));
                count
            })
            .ok()
    }
}

/// The gate, held shared. Dropping it lets go.
pub(crate) struct Shared {
    /// `None` when the thread had the gate alone already.
    gate: Option<Arc<Gate>>,
    holds: Option<Arc<AtomicU32>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(gate) = &self.gate else { return };
        if let Some(holds) = &self.holds {
            holds.fetch_sub(1, Ordering::Relaxed);
        }
        let before = gate.state.fetch_sub(ONE_SHARED, Ordering::Release);
        if before & SHARED == 1 && before & WAITING != 0 {
            drop(lock(&gate.queue));
            gate.changed.notify_all();
        }
    }
}

/// The gate, held alone. Dropping it lets go.
pub(crate) struct Alone {
    gate: Arc<Gate>,
}

impl Alone {
    /// Goes on with a shared hold of this thread, without letting a window of another thread in between.
    pub(crate) fn downgrade(self) -> Shared {
        let gate = Arc::clone(&self.gate);
        let holds = gate.holds();
        if let Some(holds) = &holds {
            holds.fetch_add(1, Ordering::Relaxed);
        }
        gate.state.fetch_add(ONE_SHARED, Ordering::Relaxed);
        drop(self);
        Shared { gate: Some(gate), holds }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let mut queue = lock(&self.gate.queue);
        queue.admitted = queue.waiting;
        self.gate.owner.store(0, Ordering::Relaxed);
        self.gate.state.fetch_and(!ALONE, Ordering::Release);
        drop(queue);
        self.gate.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    #[test]
    fn a_window_waits_for_shared_holds_until_its_deadline() {
        let gate = Arc::new(Gate::default());
        let hold = gate.share();
        let other = Arc::clone(&gate);
        let denied = std::thread::spawn(move || other.close(Instant::now()).is_none()).join().unwrap();
        assert!(denied);
        // The window that gave up keeps nobody out.
        drop(gate.share());
        let (waits, other) = (Arc::new(AtomicBool::new(true)), Arc::clone(&gate));
        let flag = Arc::clone(&waits);
        let window = std::thread::spawn(move || {
            let alone = other.close(soon());
            assert!(!flag.load(Ordering::SeqCst), "the window opened under a shared hold");
            drop(alone.expect("the gate became free"));
        });
        while gate.state.load(Ordering::SeqCst) & WAITING == 0 {
            std::thread::yield_now();
        }
        waits.store(false, Ordering::SeqCst);
        drop(hold);
        window.join().unwrap();
    }

    #[test]
    fn a_thread_never_waits_for_itself() {
        let gate = Arc::new(Gate::default());
        let outer = gate.share();
        assert!(gate.entered());
        assert!(gate.close(soon()).is_none(), "a window inside a hold would wait for itself");
        let inner = gate.share();
        drop(outer);
        assert!(gate.entered());
        drop(inner);
        assert!(!gate.entered());
        let alone = gate.close(soon()).unwrap();
        assert!(gate.owned());
        drop(gate.share());
        assert!(gate.close(soon()).is_none());
        drop(alone);
        assert!(!gate.owned());
        assert_eq!(gate.state.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_window_may_go_on_as_a_shared_hold() {
        let gate = Arc::new(Gate::default());
        let shared = gate.close(soon()).unwrap().downgrade();
        assert!(gate.entered() && !gate.owned());
        let other = Arc::clone(&gate);
        let outcome = std::thread::spawn(move || (other.close(Instant::now()).is_none(), drop(other.share()))).join();
        assert!(outcome.unwrap().0, "no window beside the hold");
        drop(shared);
        assert!(!gate.entered());
        assert_eq!(gate.state.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn holds_may_move_to_another_thread() {
        let gate = Arc::new(Gate::default());
        let hold = gate.share();
        std::thread::spawn(move || drop(hold)).join().unwrap();
        assert!(!gate.entered());
        let alone = gate.close(soon()).unwrap();
        std::thread::spawn(move || drop(alone)).join().unwrap();
        drop(gate.share());
    }

    #[test]
    fn nobody_is_let_in_beside_a_window_and_nobody_starves() {
        let gate = Arc::new(Gate::default());
        let (inside, alone) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        std::thread::scope(|scope| {
            for kind in 0..6 {
                let (gate, inside, alone) = (&gate, &inside, &alone);
                scope.spawn(move || {
                    for _ in 0..300 {
                        if kind % 2 == 0 {
                            let hold = gate.share();
                            inside.fetch_add(1, Ordering::SeqCst);
                            assert!(!alone.load(Ordering::SeqCst));
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(hold);
                        } else {
                            let hold = gate.close(soon()).expect("every window gets its turn");
                            assert!(!alone.swap(true, Ordering::SeqCst));
                            std::thread::yield_now();
                            assert_eq!(inside.load(Ordering::SeqCst), 0);
                            alone.store(false, Ordering::SeqCst);
                            drop(hold);
                        }
                    }
                });
            }
        });
        assert_eq!(gate.state.load(Ordering::SeqCst), 0);
    }
}
