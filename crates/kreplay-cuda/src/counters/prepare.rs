//! What the first window begins with, done before there is one: the hardware is programmed.

use super::Guarded;
use super::seam::CudaCounters;
use kreplay_engine::{CountersError, Plan, Way};
use std::time::{Duration, Instant};

/// How long the device may take to be idle.
const IDLE: Duration = Duration::from_millis(200);

impl CudaCounters {
    /// See [`AgentCounters::prepare`](crate::interceptor::AgentCounters::prepare).
    ///
    /// # Errors
    /// [`CountersError`]; nothing is programmed then.
    pub(super) fn prepare_first(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError> {
        let planned = self.planned(plan)?;
        // A window that opens meanwhile waits.
        let state = self.state.guarded();
        // The cache is not flushed, and nothing without fences: such passes begin otherwise.
        if state.windows > 0 || self.conduct.flush_cache || !self.conduct.fence {
            return Ok(());
        }
        let Ok(_held) = self.lock.acquire(Instant::now()) else { return Ok(()) };
        match plan.passes.iter().map(|pass| pass.way).find(|way| *way != Way::Timing) {
            Some(Way::Sampling) if self.company().is_none() && self.ranges.nothing_programmed() => {
                let first = plan.passes.iter().find_map(|pass| planned.sampled(pass.index, Self::turned(1)));
                match first {
                    Some(first) => self.sampling()?.prepare(&first.group, dispatches),
                    None => Ok(()),
                }
            }
            // The first start of a session takes long for each range; how many a window that is replayed will have nobody knows.
            Some(Way::Ranges) if plan.passes.len() == 1 && self.ranges.nothing_programmed() => {
                // Something that runs for long is no reason to keep a program waiting that is not counted yet.
                self.wait_until(Instant::now() + IDLE, "waiting for the device before the first pass", false)?;
                self.ranges.prepare(&planned, dispatches, self.reach_now())
            }
            _ => Ok(()),
        }
    }
}
