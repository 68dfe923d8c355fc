//! What fences stand on, on a GPU.

use crate::agent::CudaAgent;
use crate::tables::Cupti;
use kreplay_engine::CountersError;
use kreplay_engine::sampling::Ground;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A [`Ground`] of a GPU.
pub(in crate::counters) struct Device<W> {
    /// Waits for what was submitted.
    pub(in crate::counters) wait: W,
    pub(in crate::counters) cupti: Arc<Cupti>,
    pub(in crate::counters) agent: CudaAgent,
}

impl<W: FnMut() -> Result<(), CountersError>> Ground for Device<W> {
    type Error = CountersError;

    fn idle(&mut self) -> Result<(), CountersError> {
        (self.wait)()
    }

    fn now(&mut self) -> u64 {
        // Asked for when sampling was found to be there; 0 would show as a mismatch.
        self.cupti.now().unwrap_or(0)
    }

    fn submissions(&mut self) -> u64 {
        self.agent.submissions()
    }

    fn pass(&mut self, time: Duration) {
        spin(time);
    }
}

/// Lets time pass without giving the processor away: the gaps are some microseconds.
fn spin(time: Duration) {
    let start = Instant::now();
    if time > Duration::from_millis(1) {
        std::thread::sleep(time);
    }
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
