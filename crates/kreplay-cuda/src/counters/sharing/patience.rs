//! Waiting for what somebody else has: once, and not again before it was free.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Whether waiting for something was in vain.
#[derive(Debug, Default)]
pub(in crate::counters) struct Patience {
    /// How long it was waited for in vain, in milliseconds, where it was not free since; 0 otherwise.
    in_vain: AtomicU64,
}

impl Patience {
    /// Tries until somebody else has it no more (`taken` of what a try gave), every `pause` until `deadline`. Gives what the last
    /// try gave, and how long was waited. Whoever keeps it for so long may do so for ever, so nobody waits again before it was
    /// free: then this is how long it was waited before.
    pub(in crate::counters) fn wait<T>(
        &self,
        deadline: Instant,
        pause: Duration,
        mut attempt: impl FnMut() -> T,
        taken: impl Fn(&T) -> bool,
    ) -> (T, Duration) {
        let start = Instant::now();
        loop {
            let found = attempt();
            let before = Duration::from_millis(self.in_vain.load(Ordering::Relaxed));
            let waited = before.max(start.elapsed());
            if !taken(&found) {
                self.in_vain.store(0, Ordering::Relaxed);
                return (found, waited);
            }
            if Instant::now() >= deadline || !before.is_zero() {
                // A try that was not to wait tells nothing.
                if deadline > start {
                    self.in_vain.store((waited.as_millis() as u64).max(1), Ordering::Relaxed);
                }
                return (found, waited);
            }
            std::thread::sleep(pause);
        }
    }
}
