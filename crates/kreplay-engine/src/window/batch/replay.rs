//! The end of a batch window that recorded: what pass 0 wrote is kept aside, the passes run, and it is put back.

use super::post::Post;
use super::{Batch, Written};
use crate::engine::Refusal;
use crate::lock::lock;
use crate::{Agent, AgentError, Decline, Range};
use std::collections::HashSet;
use std::sync::Arc;

impl<A: Agent> Batch<A> {
    /// Runs the passes after pass 0. Memory and shadow are what pass 0 left then, whatever happens.
    pub(super) fn replay(&mut self) -> Result<(), Refusal> {
        let engine = Arc::clone(&self.core.engine);
        let changed = match self.learn_changed() {
            Ok(changed) => changed,
            Err(error) => return Err(self.refuse(Decline::PassFailed, &error)),
        };
        if engine.process.settings.record_write_sets {
            self.written = Some(changed.clone());
        }
        let post = self.take_post(&changed.ranges)?;
        match self.run_passes(&changed.ranges).and_then(|()| self.restore_post(&post)) {
            Ok(()) => {
                self.core.in_step = !engine.process.settings.skip_restore_for_tests;
                post.free(&engine);
                Ok(())
            }
            Err(error) => Err(self.give_up(post, &error)),
        }
    }

    /// What pass 0 wrote, which is over.
    fn learn_changed(&mut self) -> Result<Written, AgentError> {
        self.core.refresh();
        // Before anything looks at memory that the program has given back.
        self.core.engine.agent.kept()?;
        // Pass 0 did that, so it is in the write set.
        self.core.take_stale();
        self.core.learn()?;
        Ok(self.changed())
    }

    /// The write set, and all of what was born within the window.
    fn changed(&self) -> Written {
        let core = &self.core;
        let written = core.footprint.ranges(&core.restored).into_iter().map(|(_, range)| range);
        let known: HashSet<(u64, u64)> = core
            .footprint
            .all()
            .iter()
            .filter(|tracked| tracked.live)
            .map(|tracked| (tracked.range.base, tracked.range.bytes))
            .collect();
        let inventory = lock(&core.engine.inventory);
        let captured = inventory.captured_in_batch().map(|live| live.region.range);
        let born = captured.filter(|range| !known.contains(&(range.base, range.bytes)));
        let mut ranges: Vec<Range> = written.collect();
        let before = ranges.len();
        ranges.extend(born);
        let born = ranges.len() - before;
        Written { ranges, born }
    }

    /// The image of what pass 0 left there. As with the snapshot, nothing runs before it is whole.
    fn take_post(&mut self, ranges: &[Range]) -> Result<Post, Refusal> {
        let engine = Arc::clone(&self.core.engine);
        let post = match Post::take(&engine, ranges) {
            Ok(post) => post,
            Err(error @ AgentError::Exhausted { .. }) => return Err(self.refuse(Decline::NoBacking, &error)),
            Err(error) => return Err(self.refuse(Decline::PassFailed, &error)),
        };
        // The room for the image may have cost memory that the program has given back.
        if let Err(error) = engine.agent.settle(self.core.deadline()).and_then(|()| engine.agent.kept()) {
            let refusal = self.refuse(Decline::PassFailed, &error);
            if self.core.stuck {
                post.leak();
            } else {
                post.free(&engine);
            }
            return Err(refusal);
        }
        self.core.lap(|phases| &mut phases.capture);
        Ok(post)
    }

    /// A step before the passes failed: memory still is what pass 0 left.
    fn refuse(&mut self, reason: Decline, error: &AgentError) -> Refusal {
        self.core.counting.abandon();
        let refusal = self.core.engine.refuse(reason, error);
        self.core.leave_settled();
        refusal
    }
}
