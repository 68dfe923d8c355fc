//! The passes after pass 0: each runs the list from the snapshot.

use super::Batch;
use crate::verify::Outputs;
use crate::{Agent, AgentError, Range, VerifyMode};
use std::time::Instant;

impl<A: Agent> Batch<A> {
    /// Runs them all. `ranges` is what pass 0 wrote: each pass is to write the same there.
    pub(super) fn run_passes(&mut self, ranges: &[Range]) -> Result<(), AgentError> {
        if self.verify() != VerifyMode::Off {
            self.core.outputs = Outputs::of(ranges.to_vec());
        }
        self.check(0)?;
        self.core.counting.replays(u32::try_from(self.room_taken()).unwrap_or(u32::MAX));
        let first = u32::from(self.first_counted);
        for (run, planned) in (1..).zip(first..self.passes) {
            self.restore()?;
            self.pass(planned)?;
            self.check(run)?;
        }
        self.find_divergent(ranges)
    }

    /// Puts the snapshot back over the write set, queued ahead of the pass.
    fn restore(&mut self) -> Result<(), AgentError> {
        self.core.dirty = true;
        if !self.skips_restore() {
            let ranges = self.core.footprint.ranges(&self.core.restored);
            self.core.copy_back(&ranges)?;
        }
        self.core.lap(|phases| &mut phases.restore);
        Ok(())
    }

    /// Runs the list once, counted as pass `planned` of the plan.
    fn pass(&mut self, planned: u32) -> Result<(), AgentError> {
        if let Some(dispatch) = self.dispatches.first() {
            self.core.begin_counting(&dispatch.info, planned);
        }
        let start = Instant::now();
        let marked = self.marks_entries();
        self.run_list(marked).inspect_err(|error| self.look_for_overdue(error, marked))?;
        self.replayed += start.elapsed();
        self.core.counting.end();
        self.core.lap(|phases| &mut phases.passes);
        Ok(())
    }

    /// Submits the list and waits for its end; `marked`: with a mark before it, and one behind each entry.
    fn run_list(&mut self, marked: bool) -> Result<(), AgentError> {
        let agent = self.core.agent();
        let mark = || if marked { agent.mark() } else { Ok(()) };
        mark()?;
        for entry in &self.entries {
            if let Some(index) = entry.dispatch {
                self.core.counting.before(index);
            }
            agent.submit(&entry.work)?;
            if let Some(index) = entry.dispatch {
                self.core.counting.after(index);
            }
            // Outside of what is counted.
            mark()?;
        }
        // Each pass has a deadline of its own, and its time is told from the counters' and the checks'.
        agent.settle(self.core.deadline())
    }

    /// Checks what the run wrote; pass 0 is run 0.
    fn check(&mut self, run: u32) -> Result<(), AgentError> {
        let agent = self.core.agent();
        self.core.bytes.compared += self.core.outputs.hash(&*agent, run, self.core.chunk())?;
        if run > 0 && self.verify() == VerifyMode::All {
            self.core.find_escapes(run)?;
        }
        self.core.answer_outputs()?;
        self.core.lap(|phases| &mut phases.verify);
        Ok(())
    }

    /// Where a pass diverged and everything is to be checked: finds the dispatch that did.
    fn find_divergent(&mut self, ranges: &[Range]) -> Result<(), AgentError> {
        let diverged = self.core.divergence.is_some() && self.core.dirty;
        if self.verify() != VerifyMode::All || !diverged || self.skips_restore() {
            return Ok(());
        }
        // With what escaped, as far as it was inside regions that were there at the start.
        let restored = self.core.footprint.ranges(&self.core.restored).into_iter().map(|(_, range)| range);
        let born = ranges.iter().copied().filter(|range| !self.core.footprint.holds(*range));
        let ranges: Vec<Range> = restored.chain(born).collect();
        self.divergent = self.first_divergent(&ranges)?;
        Ok(())
    }

    fn verify(&self) -> VerifyMode {
        self.core.engine.process.settings.verify
    }

    fn skips_restore(&self) -> bool {
        self.core.engine.process.settings.skip_restore_for_tests
    }
}
