//! How far the agent's queue has come: barriers that lower one signal, put where it is asked for.

use super::own::Own;
use crate::abi::{Packet, Signal};
use kreplay_engine::AgentError;

/// What the signal starts at.
const START: i64 = i64::MAX;

impl Own {
    /// Puts a mark behind everything on the queue.
    pub(super) fn mark(&mut self) -> Result<(), AgentError> {
        let signal = match self.marks {
            Some(signal) => signal,
            None => *self.marks.insert(self.signals.acquire().inspect(|signal| self.store(*signal))?),
        };
        self.push(&[Packet::barrier(signal)])
    }

    /// Marks that were reached since they began anew.
    pub(super) fn marks_reached(&self) -> u64 {
        let Some(signal) = self.marks else { return 0 };
        // SAFETY: the signal is ours and live.
        let left = unsafe { (self.api.signal_load)(signal) };
        START.saturating_sub(left) as u64
    }

    /// Marks begin anew: none is on the queue any more.
    pub(super) fn forget_marks(&self) {
        if let Some(signal) = self.marks {
            self.store(signal);
        }
    }

    fn store(&self, signal: Signal) {
        // SAFETY: the signal is ours and live, and no packet lowers it now.
        unsafe { (self.api.signal_store)(signal, START) };
    }
}
