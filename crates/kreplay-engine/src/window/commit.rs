//! The shadow is brought in step with what the program's own pass left.

use super::core::{Core, Method};
use crate::engine::Belief;
use crate::shadow::{Selected, marked_bytes};
use crate::{Agent, AgentError, Move, Towards, VerifyMode};

impl<A: Agent> Core<A> {
    /// Checks the last pass and brings the shadow up to date.
    pub(super) fn commit(&mut self, last: u32) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        self.bytes.compared += self.outputs.hash(&*agent, last, self.chunk())?;
        if self.method == Method::Observed {
            let believed = self.belief == Belief::Shadow && self.engine.process.settings.verify != VerifyMode::All;
            let whole = self.footprint.select(|tracked| tracked.observed && !(believed && tracked.seen));
            self.commit_whole(&whole, last, self.belief == Belief::Audit)?;
            if believed {
                let seen = self.footprint.select(|tracked| tracked.observed && tracked.seen);
                // Queued before the hashes are waited for, so that the host waits once.
                self.commit_write_set(&seen.index)?;
                self.answer_outputs()?;
                if self.divergence.is_some() {
                    // This pass or another wrote something else: its write set is not known.
                    self.commit_whole(&seen, last, true)?;
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
    fn commit_whole(&mut self, selected: &Selected, last: u32, trusted: bool) -> Result<(), AgentError> {
        if selected.pairs.is_empty() {
            return Ok(());
        }
        let ticket = self.engine.agent.synchronise(&selected.pairs, self.chunk(), Towards::Shadow)?;
        self.answer_outputs()?;
        let maps = self.chunks(ticket, selected)?;
        let escaped = self.escapes(&selected.index, &maps, Some(last));
        if escaped.is_some() && trusted {
            self.distrust("the last pass wrote outside of what pass 0 wrote".into());
        }
        self.diverged(escaped);
        for (index, map) in selected.index.iter().zip(&maps) {
            let tracked = &self.footprint.all()[*index];
            let (tier, bytes) = (tracked.tier, marked_bytes(tracked.range, map, self.chunk()));
            self.count_captured(tier, bytes);
        }
        self.lap(|phases| &mut phases.commit);
        Ok(())
    }

    fn commit_write_set(&mut self, index: &[usize]) -> Result<(), AgentError> {
        let footprint = &self.footprint;
        let mut ranges = footprint.ranges(&self.restored);
        ranges.retain(|(region, _)| index.binary_search(region).is_ok());
        let moves: Vec<Move> = ranges.iter().map(|(index, range)| footprint.out(*index, *range)).collect();
        let (device, host) = footprint.by_tier(&ranges);
        if !moves.is_empty() {
            self.engine.agent.copy(&moves)?;
        }
        self.bytes.captured_device += device;
        self.bytes.captured_host += host;
        self.lap(|phases| &mut phases.commit);
        Ok(())
    }
}
