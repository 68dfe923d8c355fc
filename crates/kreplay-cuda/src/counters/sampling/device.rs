//! What fences stand on, on a GPU.

use super::fences::{Ground, spin};
use crate::agent::CudaAgent;
use crate::tables::Cupti;
use kreplay_engine::CountersError;
use std::sync::Arc;
use std::time::Duration;

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
