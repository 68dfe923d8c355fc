//! Memory becomes what pass 0 left: after the last pass, or after one that failed.

use super::Batch;
use super::post::Post;
use crate::engine::{Belief, Refusal};
use crate::{Agent, AgentError, Decline, Towards};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl<A: Agent> Batch<A> {
    /// Memory and shadow become what pass 0 left.
    pub(super) fn restore_post(&mut self, post: &Post) -> Result<(), AgentError> {
        let agent = self.core.agent();
        if self.core.engine.process.settings.skip_restore_for_tests {
            return agent.settle(self.core.deadline());
        }
        self.undo_escapes()?;
        let core = &mut self.core;
        let back = post.back();
        let bytes: u64 = back.iter().map(|each| each.bytes).sum();
        if !back.is_empty() {
            agent.copy(&back)?;
            core.bytes.restored_device += bytes;
        }
        // The shadow of what was born within the window comes with its first own window.
        let ranges = core.footprint.ranges(&core.restored);
        core.copy_out(&ranges)?;
        agent.settle(core.deadline())?;
        core.dirty = false;
        core.lap(|phases| &mut phases.commit);
        Ok(())
    }

    /// Puts back what the passes wrote outside of what pass 0 wrote, if anything.
    fn undo_escapes(&mut self) -> Result<(), AgentError> {
        const ESCAPED: &str = "a pass wrote outside of what pass 0 wrote";
        let core = &mut self.core;
        let believed = core.belief == Belief::Shadow;
        let doubted = core.footprint.select(|tracked| !(believed && tracked.seen));
        if core.dirty && !doubted.pairs.is_empty() {
            let audits = core.belief == Belief::Audit;
            core.make_alike(doubted, Towards::Memory, None, audits.then_some(ESCAPED))?;
        }
        core.answer_outputs()?;
        if core.dirty && believed && core.divergence.is_some() {
            // Some pass wrote something else, and what it wrote outside of the write set is not known.
            let seen = core.footprint.select(|tracked| tracked.seen);
            if !seen.pairs.is_empty() {
                core.make_alike(seen, Towards::Memory, None, Some(ESCAPED))?;
            }
        }
        core.lap(|phases| &mut phases.verify);
        Ok(())
    }

    /// A pass failed: memory becomes what pass 0 left all the same.
    pub(super) fn give_up(&mut self, post: Post, error: &AgentError) -> Refusal {
        let engine = Arc::clone(&self.core.engine);
        self.core.counting.abandon();
        let mut refusal = engine.refuse(Decline::PassFailed, error);
        if let AgentError::Deadline { .. } = error
            && let Some(overdue) = self.refuse_overdue()
        {
            refusal.detail = format!("{}: {overdue}", refusal.detail);
        }
        if matches!(error, AgentError::Lost(_)) {
            self.core.stuck = true;
            post.leak();
            return refusal;
        }
        let lost = |error| Refusal::new(Decline::AgentLost, format!("memory could not be put back: {error}"));
        let unsettled = self.core.leave_settled();
        if self.core.stuck {
            post.leak();
            return unsettled.map_or(refusal, lost);
        }
        let put_back = self.core.put_back().and_then(|()| self.put_post_back(&post));
        match put_back {
            Ok(()) => post.free(&engine),
            Err(error) => {
                post.leak();
                if matches!(error, AgentError::Deadline { .. }) {
                    self.core.leave_running();
                } else {
                    self.core.stuck = true;
                    engine.lost.store(true, Ordering::Relaxed);
                    refusal = lost(error);
                }
            }
        }
        self.core.lap(|phases| &mut phases.restore);
        refusal
    }

    /// Copies the image of what pass 0 left back and waits, twice where the first time fails.
    fn put_post_back(&self, post: &Post) -> Result<(), AgentError> {
        let back = post.back();
        if back.is_empty() {
            return Ok(());
        }
        let agent = self.core.agent();
        // A copy may also fail as the device comes to it: then the wait says so, and no other wait does.
        let copy = || agent.copy(&back).and_then(|()| agent.settle(self.core.deadline()));
        match copy() {
            Err(AgentError::Failed { .. } | AgentError::Unsupported(_) | AgentError::Exhausted { .. }) => {
                self.core.settle_all()?;
                copy()
            }
            done => done,
        }
    }
}
