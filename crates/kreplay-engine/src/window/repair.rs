//! Making memory equal to the snapshot again.

use super::open::{Method, Open};
use crate::engine::Belief;
use crate::shadow::marked_bytes;
use crate::{Agent, AgentError, Towards};

impl<A: Agent> Open<A> {
    /// Before the program's own pass: memory is the snapshot, the write set and what escaped it. Waits until that is so,
    /// since the program's launch goes to a queue of its own.
    pub(super) fn repair(&mut self) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        if !self.engine.process.settings.skip_restore_for_tests {
            let believed = self.belief == Belief::Shadow;
            let full = self.method == Method::Full;
            let footprint = &self.dispatch.footprint;
            let compared = footprint.select(|tracked| !full && tracked.observed && !(believed && tracked.seen));
            let mut copied = footprint.ranges(&self.restored);
            copied.retain(|(index, _)| compared.index.binary_search(index).is_err());
            self.copy_back(&copied)?;
            self.watch.lap(&mut self.dispatch.phases.restore);
            if !compared.pairs.is_empty() {
                let ticket = agent.synchronise(&compared.pairs, self.chunk(), Towards::Memory)?;
                self.answer_outputs()?;
                let maps = self.chunks(ticket, &compared)?;
                // After one pass beside pass 0 there is no doubt whose write it is.
                let pass = (self.passes_done == 2).then_some(1);
                let escaped = self.escapes(&compared.index, &maps, pass);
                if escaped.is_some() && self.belief == Belief::Audit {
                    self.distrust("a pass wrote outside of what pass 0 wrote".into());
                }
                self.diverged(escaped);
                for (index, map) in compared.index.iter().zip(&maps) {
                    let tracked = &self.dispatch.footprint.all()[*index];
                    let (tier, bytes) = (tracked.tier, marked_bytes(tracked.range, map, self.chunk()));
                    self.count_restored(tier, bytes);
                }
            }
        }
        self.answer_outputs()?;
        agent.settle(self.deadline())?;
        self.dirty = false;
        self.watch.lap(&mut self.dispatch.phases.verify);
        Ok(())
    }

    /// After a failure: memory is the snapshot, whatever was written. By comparing, else by copying everything.
    pub(super) fn put_back(&mut self) -> Result<(), AgentError> {
        self.refresh();
        if self.engine.process.settings.skip_restore_for_tests {
            return Ok(());
        }
        match self.put_back_differences() {
            Ok(()) => Ok(()),
            Err(error @ (AgentError::Lost(_) | AgentError::Deadline { .. })) => Err(error),
            Err(_) => self.put_back_everything(),
        }
    }

    fn put_back_differences(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        let observed = self.dispatch.footprint.select(|tracked| tracked.observed);
        let copied = self.dispatch.footprint.select(|tracked| !tracked.observed);
        self.copy_back(&self.whole_ranges(&copied))?;
        if !observed.pairs.is_empty() {
            // What differed is of no interest; the next wait drops the answer.
            let _ = agent.synchronise(&observed.pairs, self.chunk(), Towards::Memory)?;
        }
        agent.settle(self.deadline())
    }

    fn put_back_everything(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        let all = self.dispatch.footprint.select(|_| true);
        self.copy_back(&self.whole_ranges(&all))?;
        agent.settle(self.deadline())
    }
}
