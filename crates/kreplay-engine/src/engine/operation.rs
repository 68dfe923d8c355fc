//! What the program submits beside launches: copies, fills, frees, waits.

use super::open_batch::OpenBatch;
use super::{Engine, RunGuard};
use crate::lock::lock;
use crate::window::HeldFree;
use crate::{Agent, ClosingReason};
use std::sync::Arc;

/// What a memory operation of the program does, for [`Engine::memory_operation`].
pub enum Operation<'a, W> {
    /// Changes device memory in a way that can be done again.
    Repeatable {
        /// Host memory that is kept for it, in bytes: sources that have to be saved. Where the window has no room for them it
        /// is closed, and nothing is saved.
        bytes: u64,
        /// Makes what does it (with saved sources), or `None` when it cannot after all.
        record: &'a mut dyn FnMut() -> Option<W>,
    },
    /// Only reads device memory, or waits: a copy to the host, a synchronise, an event query. It waits until no launch of
    /// another thread is being counted.
    Reads,
    /// Belongs to another device, or only waits: neither memory nor counters of this agent know of it.
    Elsewhere,
    /// Reaches memory that cannot be put back. It runs outside of every window.
    Foreign,
    /// Anything else. It runs outside of every window.
    Other,
}

impl<A: Agent> Engine<A> {
    /// Any other device operation of the program (copy, memset, a submission of several packets) is about to be
    /// submitted: hold the guard until it was. Waits while a window of another thread is open, so that the operation
    /// cannot fall into it; the agent's [`Agent::drain`] waits for its completion.
    ///
    /// An open batch window that records is closed first: see [`Engine::memory_operation`] for operations that need not do
    /// that. One of a single pass goes on.
    pub fn operation(self: &Arc<Self>) -> RunGuard<A> {
        self.outside(ClosingReason::Unrecordable)
    }

    /// A memory operation of the program is about to be submitted: hold the guard until it was. As
    /// [`Engine::operation`], but an open batch window records it if it can, and else is closed first; so is one that is full
    /// or old ([`BatchLimits`](crate::BatchLimits)).
    /// What it writes is told to [`Engine::region_written`] in any case, while the guard is held.
    pub fn memory_operation(self: &Arc<Self>, operation: Operation<'_, A::Work>) -> RunGuard<A> {
        if self.gate.entered() {
            return RunGuard::new(self.gate.share());
        }
        let hold = self.gate.share();
        let mut reason = ClosingReason::Unrecordable;
        match (self.open_batch_now(), operation) {
            (OpenBatch::Nothing, _) | (_, Operation::Elsewhere) => return RunGuard::new(hold),
            // Pass 0 may be counted as it runs, and a copy within a fence would be counted with it.
            (OpenBatch::Recording, Operation::Reads) if self.counts_own_launches() => return self.beside(hold),
            (OpenBatch::Recording, Operation::Reads) => return RunGuard::new(hold),
            (OpenBatch::InLine, _) => return self.beside(hold),
            (OpenBatch::Recording, Operation::Foreign) => {
                reason = ClosingReason::Foreign;
                drop(hold);
            }
            (OpenBatch::Recording, Operation::Other) => drop(hold),
            (OpenBatch::Recording, Operation::Repeatable { bytes, record }) => {
                // With the turn, so that nobody else fills the window meanwhile.
                if let Some(turn) = self.turn() {
                    let full = lock(&self.batch).as_ref().and_then(|batch| batch.full_for_operation(bytes));
                    if let Some(full) = full {
                        reason = full;
                    } else if let Some(work) = record()
                        && let Some(batch) = &mut *lock(&self.batch)
                    {
                        batch.record_operation(work, bytes);
                        return RunGuard::recorded(hold, turn, Arc::clone(self), None);
                    }
                }
                drop(hold);
            }
        }
        self.outside(reason)
    }

    /// The program frees a region. While a batch window is open the recorded work needs its memory: the free is held
    /// back and `free` is called when the window is over. `free` retires the region and frees it.
    ///
    /// # Errors
    /// `free` itself, when no batch window is open: retire the region and free it now.
    pub fn hold_free(&self, free: HeldFree) -> Result<(), HeldFree> {
        if self.open_batch_now() != OpenBatch::Recording || self.gate.owned() {
            return Err(free);
        }
        let _hold = self.gate.share();
        match &mut *lock(&self.batch) {
            Some(batch) if batch.records() => {
                batch.hold_free(free);
                Ok(())
            }
            _ => Err(free),
        }
    }
}
