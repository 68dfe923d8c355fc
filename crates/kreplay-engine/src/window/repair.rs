//! Making memory equal to the snapshot again.

use super::core::{Core, Method};
use crate::engine::Belief;
use crate::shadow::{Selected, Tracked};
use crate::{Agent, AgentError, Range, Towards};
use std::sync::atomic::Ordering;

impl<A: Agent> Core<A> {
    /// Puts the snapshot back over the write set, queued ahead of the next pass.
    pub(super) fn restore(&mut self) -> Result<(), AgentError> {
        self.refresh();
        if !self.engine.process.settings.skip_restore_for_tests {
            let ranges = self.footprint.ranges(&self.restored);
            self.copy_back(&ranges)?;
        }
        self.lap(|phases| &mut phases.restore);
        Ok(())
    }

    /// Copies ranges back from the snapshot, in one call.
    pub(super) fn copy_back(&mut self, ranges: &[(usize, Range)]) -> Result<(), AgentError> {
        self.copy_ranges(ranges, Towards::Memory)
    }

    /// Before the program's own pass: memory is the snapshot, the write set and what escaped it. Waits until that is so,
    /// since the program's launch goes to a queue of its own. `pass` is the one that escapes are of, where
    /// there is no doubt.
    pub(super) fn repair(&mut self, pass: Option<u32>) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        if !self.engine.process.settings.skip_restore_for_tests {
            let believed = self.belief == Belief::Shadow;
            let full = self.method == Method::Full;
            let footprint = &self.footprint;
            let compared = footprint.select(|tracked| !(full || believed && tracked.seen));
            let mut copied = footprint.ranges(&self.restored);
            copied.retain(|(index, _)| compared.index.binary_search(index).is_err());
            self.copy_back(&copied)?;
            self.lap(|phases| &mut phases.restore);
            self.repair_whole(compared, pass, self.belief == Belief::Audit)?;
            self.answer_outputs()?;
            if believed && self.divergence.is_some() {
                // Some pass wrote something else, and what it wrote outside of the write set is not known.
                let seen = self.footprint.select(|tracked| !full && tracked.seen);
                self.repair_whole(seen, pass, true)?;
            }
        }
        self.answer_outputs()?;
        agent.settle(self.deadline())?;
        self.dirty = false;
        self.lap(|phases| &mut phases.verify);
        Ok(())
    }

    /// Makes all of these regions equal to the snapshot. `trusted`: an escape ends the trust in what was not compared.
    fn repair_whole(&mut self, selected: Selected, pass: Option<u32>, trusted: bool) -> Result<(), AgentError> {
        if selected.pairs.is_empty() {
            return Ok(());
        }
        let surprise = trusted.then_some("a pass wrote outside of what pass 0 wrote");
        let differing = self.make_alike(selected, Towards::Memory, pass, surprise)?;
        self.count_differing(&differing, Towards::Memory);
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
        let on_device = |tracked: &Tracked| self.method == Method::Observed && tracked.digests.is_none();
        let compared = self.footprint.select(on_device);
        let copied = self.footprint.select(|tracked| !on_device(tracked));
        self.copy_back(&self.whole_ranges(&copied))?;
        if !compared.pairs.is_empty() {
            // What differed is of no interest; the next wait drops the answer.
            let _ = agent.synchronise(&compared.pairs, self.chunk(), Towards::Memory)?;
        }
        agent.settle(self.deadline())
    }

    fn put_back_everything(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        let all = self.footprint.select(|_| true);
        self.copy_back(&self.whole_ranges(&all))?;
        agent.settle(self.deadline())
    }

    /// After a failure: waits until nothing of ours runs, and remembers when that cannot be had. Returns what the agent said
    /// where it is not to be relied on.
    pub(super) fn leave_settled(&mut self) -> Option<AgentError> {
        match self.settle_all() {
            Ok(()) => None,
            Err(AgentError::Deadline { .. }) => {
                self.leave_running();
                None
            }
            Err(error) => {
                self.stuck = true;
                self.engine.lost.store(true, Ordering::Relaxed);
                Some(error)
            }
        }
    }

    /// Work of ours does not end. Nothing more is touched until it has.
    pub(super) fn leave_running(&mut self) {
        self.stuck = true;
        self.engine.unsettled.store(true, Ordering::Relaxed);
        self.notes.push("a pass did not end and may run beside the program's own launches; memory is not sure".into());
    }

    /// Waits until nothing of ours runs. The first error may be of work that failed before; a second one means that
    /// waiting itself does not work.
    pub(super) fn settle_all(&self) -> Result<(), AgentError> {
        match self.engine.agent.settle(self.deadline()) {
            Err(AgentError::Failed { .. } | AgentError::Unsupported(_) | AgentError::Exhausted { .. }) => {
                self.engine.agent.settle(self.deadline())
            }
            settled => settled,
        }
    }
}
