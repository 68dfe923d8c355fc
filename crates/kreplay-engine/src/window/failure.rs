//! When a step of a kernel window fails, and what is left then.

use super::core::Method;
use super::open::{Open, Stage};
use crate::engine::Refusal;
use crate::lock::lock;
use crate::{Agent, AgentError, Decline};
use std::sync::atomic::Ordering;

impl<A: Agent> Open<A> {
    /// A step failed: memory is put back, and the program's own launch will run from the snapshot, uncounted.
    pub(super) fn give_up(&mut self, error: &AgentError) {
        self.counting.abandon();
        let reason = if self.captured { Decline::PassFailed } else { Decline::CaptureFailed };
        let refusal = self.engine.refuse(reason, error);
        self.stage = Stage::GivenUp(refusal);
        if matches!(error, AgentError::Lost(_)) {
            self.stuck = true;
            return;
        }
        if matches!(error, AgentError::Deadline { .. }) {
            lock(&self.engine.refused).insert(self.dispatch.info.kernel.key);
        }
        // What was queued may still be running, and memory cannot be put back under it.
        match self.settle_all() {
            Ok(()) => {}
            Err(AgentError::Deadline { .. }) => return self.leave_running(),
            Err(error) => return self.lose(&error),
        }
        if self.dirty {
            match self.put_back() {
                // The program's own launch follows, and nobody looks at what it writes: the shadow falls behind.
                Ok(()) => self.dirty = false,
                Err(AgentError::Deadline { .. }) => self.leave_running(),
                Err(error) => self.lose(&error),
            }
        }
        self.lap(|phases| &mut phases.restore);
    }

    /// Memory could not be put back: the agent is not to be relied on.
    fn lose(&mut self, error: &AgentError) {
        self.engine.lost.store(true, Ordering::Relaxed);
        self.stuck = true;
        let detail = if self.dirty { format!("memory could not be put back: {error}") } else { error.to_string() };
        self.stage = Stage::GivenUp(Refusal::new(Decline::AgentLost, detail));
    }

    /// The program's own launch failed, so nothing ran: memory still is the snapshot.
    pub(super) fn last_not_run(&mut self, message: &str) {
        self.counting.abandon();
        // A window that took no snapshot knows nothing of memory.
        self.in_step = self.method != Method::None;
        let detail = format!("the program's own launch failed: {message}");
        self.stage = Stage::GivenUp(Refusal::new(Decline::PassFailed, detail));
    }

    /// The program's own pass does not end, or failed. What memory holds is the program's.
    pub(super) fn give_up_last(&mut self, error: &AgentError) {
        self.counting.abandon();
        if matches!(error, AgentError::Deadline { .. }) {
            lock(&self.engine.refused).insert(self.dispatch.info.kernel.key);
        }
        let refusal = self.engine.refuse(Decline::PassFailed, error);
        self.stuck = matches!(error, AgentError::Lost(_));
        self.stage = Stage::GivenUp(refusal);
    }

    /// The program's own pass ended, but what it wrote could not be looked at: only the check and the shadow are lost.
    pub(super) fn leave_unchecked(&mut self, error: &AgentError) {
        let settled = if let AgentError::Lost(_) = error { Err(error.clone()) } else { self.settle_all() };
        match settled {
            Ok(()) => {}
            Err(AgentError::Deadline { .. }) => {
                self.engine.unsettled.store(true, Ordering::Relaxed);
                self.stuck = true;
            }
            Err(_) => {
                self.engine.lost.store(true, Ordering::Relaxed);
                self.stuck = true;
            }
        }
        self.notes.push(format!("the last pass could not be checked: {error}"));
    }

    /// The window was dropped without being closed. Before it was handed back, memory is put back; after that the
    /// program's launch may have been submitted, and what memory holds is the program's.
    pub(super) fn dropped(mut self) {
        if matches!(self.stage, Stage::Opened) {
            let dropped = AgentError::Failed { call: "window", status: "it was dropped before it was run".into() };
            self.give_up(&dropped);
            if let Stage::GivenUp(refusal) = &mut self.stage
                && refusal.reason == Decline::CaptureFailed
            {
                refusal.reason = Decline::PassFailed;
            }
        } else {
            self.counting.abandon();
            if let Stage::HandedBack = self.stage {
                self.stage = Stage::GivenUp(Refusal::new(Decline::PassFailed, "the window was dropped before its end"));
            }
        }
        self.finish();
    }
}
