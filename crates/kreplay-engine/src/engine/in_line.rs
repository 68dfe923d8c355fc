//! Batch windows of a single pass: the program's own launches are counted as they go by.
//!
//! No pass follows, so no snapshot is taken and nothing is recorded; memory is the program's all the time, and what it
//! allocates, copies and frees goes by. A fence that the counters put around a dispatch holds only if nothing else is
//! submitted within it, so whatever submits work takes the turn, as recorded launches do.

use super::open_batch::OpenBatch;
use super::{Engine, RunGuard};
use crate::gate::Shared;
use crate::lock::lock;
use crate::{Agent, ClosingReason, WindowMode};
use std::time::Instant;

impl<A: Agent> Engine<A> {
    /// Whether dispatches that run once are counted in batch windows.
    pub(super) fn counts_in_line(&self) -> bool {
        self.process.settings.window != WindowMode::Kernel && self.counts_own_launches()
    }

    /// Whether the plan's first pass can be the program's own run.
    pub(crate) fn counts_own_launches(&self) -> bool {
        let first = self.plan.passes.first();
        first.zip(self.counters.as_ref()).is_some_and(|(pass, counters)| counters.counts_program_queues(pass))
    }

    /// The guard of something that the program submits and that no batch window holds. A window that records is closed for
    /// `reason` first, and another that a launch of another thread has opened meanwhile, too; one of a single pass goes
    /// on, and this stays out of its fences. What a thread does within a hold of its own belongs to that.
    pub(super) fn outside(&self, reason: ClosingReason) -> RunGuard<A> {
        self.without(false, reason)
    }

    /// As [`Engine::outside`], of something that a window of a single pass could not tell from its own: that one is closed, too.
    pub(super) fn apart(&self, reason: ClosingReason) -> RunGuard<A> {
        self.without(true, reason)
    }

    /// The guard of something that no window records, and that is `apart` from those of a single pass or stays out of their
    /// fences.
    fn without(&self, apart: bool, reason: ClosingReason) -> RunGuard<A> {
        if self.gate.entered() {
            return RunGuard::new(self.gate.share());
        }
        let deadline = Instant::now() + self.process.settings.drain_deadline;
        loop {
            let hold = self.gate.share();
            match self.open_batch_now() {
                OpenBatch::Nothing => return RunGuard::new(hold),
                OpenBatch::InLine if !apart => return self.beside(hold),
                OpenBatch::Recording | OpenBatch::InLine if Instant::now() >= deadline => {
                    self.spoil_batch();
                    return RunGuard::new(hold);
                }
                OpenBatch::Recording | OpenBatch::InLine => {}
            }
            drop(hold);
            if apart {
                self.close_batch(reason);
            } else {
                self.close_recording(reason);
            }
        }
    }

    /// As [`Engine::beside`], for a launch that is not selected: where the counters count it all the same it takes up
    /// room.
    ///
    /// # Errors
    /// Why the window does not take it any more.
    pub(super) fn beside_launch(&self, hold: Shared) -> Result<RunGuard<A>, ClosingReason> {
        if let Some(batch) = &mut *lock(&self.batch) {
            match batch.full_for_unselected() {
                Some(reason) if batch.counts_every_launch() => return Err(reason),
                _ => batch.passed_by(),
            }
        }
        Ok(self.beside(hold))
    }

    /// The guard of something that is submitted between the dispatches of a window of a single pass.
    pub(super) fn beside(&self, hold: Shared) -> RunGuard<A> {
        match self.turn() {
            Some(turn) => RunGuard::beside(hold, turn),
            None => {
                // It may fall between the fences of a dispatch.
                self.spoil_batch();
                RunGuard::new(hold)
            }
        }
    }
}
