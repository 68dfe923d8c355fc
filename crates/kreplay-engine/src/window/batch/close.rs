//! The end of a batch window: it is replayed, everything is let go, and what happened is told.

use super::Batch;
use super::length::WindowCost;
use crate::engine::{Readings, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::{Agent, ClosingReason, Phases};
use std::sync::atomic::Ordering;

impl<A: Agent> Batch<A> {
    /// Replays what was recorded and tells what happened. The gate is held alone, the agent is drained.
    pub(crate) fn close(mut self, alone: Alone, reason: ClosingReason) {
        self.core.alone = Some(alone);
        self.core.watch.skip();
        if self.first_counted {
            self.core.counting.end();
        }
        let refusal = match self.spoiled.take() {
            Some(refusal) => {
                self.core.counting.abandon();
                Some(refusal)
            }
            None if self.records() => self.replay().err(),
            None => None,
        };
        self.finish(reason, refusal);
    }

    /// It cannot be replayed, since the agent does not come to rest. The gate is held alone until nothing is left of it, so
    /// that the next window does not open beside it.
    pub(crate) fn abandon(mut self, alone: Alone, refusal: Refusal) {
        self.core.alone = Some(alone);
        self.core.counting.abandon();
        self.finish(ClosingReason::Failed, Some(refusal));
    }

    /// The program ends, and somebody has the agent: what happened is told, and nothing is touched.
    pub(crate) fn leave(mut self, refusal: Refusal) {
        let refusal = self.spoiled.take().unwrap_or(refusal);
        self.tell(ClosingReason::Failed, Some(refusal), None);
    }

    /// Lets go of the agent and tells what happened. Every exit but [`Batch::leave`] ends here.
    fn finish(mut self, reason: ClosingReason, refusal: Option<Refusal>) {
        let readings = Readings::new(self.dispatches.iter().map(|dispatch| dispatch.id).collect());
        if refusal.is_none() {
            lock(&self.core.engine.length).learn(&self.cost());
        }
        let counted = self.core.counting.collect(&readings);
        self.end_lingering();
        self.core.release();
        // What the program freed within the window goes now; these calls come back as events of their own.
        for free in self.frees.drain(..) {
            free();
        }
        let closing = if refusal.is_some() { ClosingReason::Failed } else { reason };
        self.tell(closing, refusal, counted.then_some(readings));
    }

    /// Regions that the program has freed within the window are gone for good, before another window can open.
    fn end_lingering(&self) {
        let engine = &self.core.engine;
        let gone = lock(&engine.inventory).end_lingering();
        if gone.is_empty() {
            return;
        }
        engine.inventory_changes.fetch_add(1, Ordering::Release);
        let mut shadow = lock(&engine.shadow);
        gone.iter().for_each(|region| shadow.region_gone(region));
    }

    /// What it cost, for the length of the next.
    fn cost(&self) -> WindowCost {
        let Phases { capture, compare, restore, verify, commit, .. } = self.core.phases;
        WindowCost {
            dispatches: self.dispatches.len() as u32,
            switches: self.core.counting.switches().to_vec(),
            memory: capture + compare + restore + verify + commit,
            run: if self.records() { self.replayed } else { self.opened.elapsed() },
        }
    }
}
