//! Threads beside the program, and work that is owed by them.

use crate::thread::{self, Signals};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Starts a thread of ours: signals are the program's, and calls of the driver are ours. `false`: none can be had.
pub(crate) fn beside(name: &'static str, work: impl FnOnce() + Send + 'static) -> bool {
    let ours = move || {
        let _depth = crate::agent::Depth::enter();
        work();
    };
    thread::start(name, Box::new(ours))
}

/// Does `work` for each number below `count`: on this thread, and on as many others as there are `helpers` and can be had.
pub(super) fn side_by_side(helpers: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && at < count
        {
            work(at);
        }
    };
    std::thread::scope(|scope| {
        let blocked = Signals::block();
        for _ in 0..helpers.min(count.saturating_sub(1)) {
            let helper = || {
                let _depth = crate::agent::Depth::enter();
                run();
            };
            if std::thread::Builder::new().name("kreplay-plan".into()).spawn_scoped(scope, helper).is_err() {
                break;
            }
        }
        drop(blocked);
        run();
    });
}

/// How much is still to be delivered.
#[derive(Clone, Default)]
pub(super) struct Owed(Arc<(Mutex<usize>, Condvar)>);

impl Owed {
    /// One more.
    pub(super) fn add(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// One less.
    pub(super) fn done(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.1.notify_all();
    }

    /// Waits until nothing is owed.
    pub(super) fn wait(&self) {
        let mut count = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = self.0.1.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_worked_on_once_with_helpers_or_without() {
        for (helpers, count) in [(0, 5), (3, 100), (3, 1), (2, 0)] {
            let done = Mutex::new(Vec::new());
            side_by_side(helpers, count, |at| done.lock().expect("nobody panics").push(at));
            let mut done = done.into_inner().expect("nobody panics");
            done.sort_unstable();
            assert_eq!(done, (0..count).collect::<Vec<_>>());
        }
    }
}
