//! The shadow is brought in step with what the program's own pass left.

use super::core::{Core, Method};
use crate::engine::Belief;
use crate::shadow::Selected;
use crate::{Agent, AgentError, Towards, VerifyMode};

impl<A: Agent> Core<A> {
    /// Checks the last pass and brings the shadow up to date.
    pub(super) fn commit(&mut self, last: u32) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        self.bytes.compared += self.outputs.hash(&*agent, last, self.chunk())?;
        if self.method == Method::Observed {
            let believed = self.belief == Belief::Shadow && self.engine.process.settings.verify != VerifyMode::All;
            let whole = self.footprint.select(|tracked| !(believed && tracked.seen));
            self.commit_whole(whole, last, self.belief == Belief::Audit)?;
            if believed {
                let seen = self.footprint.select(|tracked| tracked.seen);
                // Queued before the hashes are waited for, so that the host waits once.
                self.commit_write_set(&seen.index)?;
                self.answer_outputs()?;
                if self.divergence.is_some() {
                    // This pass or another wrote something else: its write set is not known.
                    self.commit_whole(seen, last, true)?;
                }
            }
        }
        self.answer_outputs()?;
        self.lap(|phases| &mut phases.verify);
        agent.settle(self.deadline())?;
        self.lap(|phases| &mut phases.commit);
        Ok(())
    }

    /// Makes the shadow of all of these regions equal to memory. `trusted`: an escape ends the trust in what was not compared.
    fn commit_whole(&mut self, selected: Selected, last: u32, trusted: bool) -> Result<(), AgentError> {
        if selected.pairs.is_empty() {
            return Ok(());
        }
        let surprise = trusted.then_some("the last pass wrote outside of what pass 0 wrote");
        let differing = self.make_alike(selected, Towards::Shadow, Some(last), surprise)?;
        self.count_differing(&differing, Towards::Shadow);
        self.lap(|phases| &mut phases.commit);
        Ok(())
    }

    fn commit_write_set(&mut self, index: &[usize]) -> Result<(), AgentError> {
        let mut ranges = self.footprint.ranges(&self.restored);
        ranges.retain(|(region, _)| index.binary_search(region).is_ok());
        self.copy_out(&ranges)?;
        self.lap(|phases| &mut phases.commit);
        Ok(())
    }
}
