//! The end of the batch window that is open: who ends it, and what spoils it.

use super::open_batch::OpenBatch;
use super::{Engine, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::window::Batch;
use crate::{Agent, ClosingReason, Decline};
use std::time::Instant;

impl<A: Agent> Engine<A> {
    /// Closes the batch window that is open, if one is: it is replayed now. For an interceptor that knows of something
    /// that must not fall into a window, and for the end of a part of the program.
    pub fn close_window(&self) {
        self.close_window_for(ClosingReason::Unrecordable);
    }

    /// As [`Engine::close_window`], where the interceptor can say why.
    pub fn close_window_for(&self, reason: ClosingReason) {
        self.close_batch(reason);
    }

    /// Something is about to go or to change that a recorded launch may use: memory, its machine code, a texture, a limit. A
    /// window that records ends first, since a replay would meet it gone; one of a single pass goes on. From within an
    /// operation of this thread the window cannot be closed, and its launches decline. Waits while another thread replays.
    pub fn end_recording(&self, reason: ClosingReason) {
        if self.open_batch_now() == OpenBatch::Recording {
            if self.gate.entered() {
                self.spoil_batch();
            } else {
                self.close_batch(reason);
            }
        }
        // A window that another thread has just closed may still be launching it.
        drop(self.gate.share());
    }

    /// Somebody else is about to need the counters that the open window holds: one whose launches are counted as the program makes
    /// them ends, and one that only records goes on.
    pub fn end_counting(&self, reason: ClosingReason) {
        let counts = lock(&self.batch).as_ref().is_some_and(Batch::counts_now);
        if counts {
            self.close_batch(reason);
        }
    }

    /// As [`Engine::close_batch`], if the window records.
    pub(super) fn close_recording(&self, reason: ClosingReason) {
        if self.open_batch_now() == OpenBatch::Recording {
            self.close_batch(reason);
        }
    }

    /// Closes the batch window, if one is open and this thread can have the agent alone. Returns whether that was to be had.
    pub(super) fn close_batch(&self, reason: ClosingReason) -> bool {
        if self.open_batch_now() == OpenBatch::Nothing {
            return true;
        }
        if self.gate.entered() {
            return false;
        }
        let deadline = Instant::now() + self.process.settings.drain_deadline;
        let alone = self.gate.close(deadline);
        let had = alone.is_some();
        match alone {
            Some(alone) => self.close_held(alone, reason),
            // What comes now is not recorded.
            None => self.spoil_batch(),
        }
        had
    }

    /// Closes the batch window that is open at the program's end. Where the agent cannot be had by then, its launches decline,
    /// and nothing is touched that somebody may be using.
    pub(super) fn close_last(&self, deadline: Instant) {
        if self.open_batch_now() == OpenBatch::Nothing {
            return;
        }
        if let Some(alone) = self.gate.close(deadline) {
            return self.close_held(alone, ClosingReason::Exit);
        }
        let mut open = lock(&self.batch);
        let Some(batch) = open.take() else { return };
        // Without the gate; but everybody who asks for the window finds none.
        self.open_batch.set(OpenBatch::Nothing);
        drop(open);
        batch.leave(Refusal::new(Decline::DrainTimeout, "at the program's end another call of it held the agent"));
    }

    /// Closes the batch window, if one is open.
    fn close_held(&self, alone: Alone, reason: ClosingReason) {
        let Some(batch) = lock(&self.batch).take() else { return };
        self.open_batch.set(OpenBatch::Nothing);
        // Pass 0 is what the program launched since the window opened.
        match self.agent.drain(Instant::now() + self.process.settings.pass_deadline) {
            Ok(()) => batch.close(alone, reason),
            Err(error) => batch.abandon(alone, self.refuse(Decline::DrainTimeout, &error)),
        }
    }

    /// What an open window recorded cannot be done again any more, and nobody can wait for it now: it is not replayed, and its
    /// launches decline, `pass_failed`, with what `why` says.
    pub fn give_up_recording(&self, why: &str) {
        if self.open_batch_now() == OpenBatch::Recording
            && let Some(batch) = &mut *lock(&self.batch)
        {
            batch.spoil(Decline::PassFailed, why);
        }
    }

    /// Something goes by that the open batch window does not hold.
    pub(super) fn spoil_batch(&self) {
        if let Some(batch) = &mut *lock(&self.batch) {
            batch.spoil(Decline::PassFailed, "something ran within the window that was not recorded");
        }
    }

    /// What was recorded last did not run.
    pub(super) fn batch_call_failed(&self, message: &str) {
        if let Some(batch) = &mut *lock(&self.batch) {
            batch.spoil(Decline::PassFailed, &format!("a call of the program failed: {message}"));
        }
    }
}
