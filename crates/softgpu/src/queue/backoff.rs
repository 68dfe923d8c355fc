//! How a thread waits for memory to change.

use std::time::Duration;

/// Looks made before the first sleep.
const SPINS: u32 = 200;
/// Longest sleep: the latency that an idle queue adds.
const LONGEST: Duration = Duration::from_micros(200);

/// Spins briefly, then sleeps ever longer.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    looks: u32,
}

impl Backoff {
    /// Something happened: spin again.
    pub(super) fn reset(&mut self) {
        self.looks = 0;
    }

    /// Nothing happened: wait a little.
    pub(super) fn wait(&mut self) {
        self.looks = self.looks.saturating_add(1);
        match self.looks {
            0..SPINS => std::hint::spin_loop(),
            n => std::thread::sleep(LONGEST.min(Duration::from_micros(5) * (n - SPINS + 1))),
        }
    }
}
