//! Which dispatch of a batch window does other work every time it runs.
//!
//! The hashes at the end of a pass say that a window diverged, not where. With `--verify all` the list is run twice more
//! from the snapshot, and what the window writes is hashed after every entry: the first entry after which the two runs
//! differ is the one. A divergence that does not come again is not found so; then all dispatches stay marked.

use super::Batch;
use crate::verify::wrong_answer;
use crate::{Agent, AgentError, Answer, Range};

impl<A: Agent> Batch<A> {
    /// The place in the list of the first entry that does other work each time, if the two runs show one. `ranges` is
    /// what the window writes.
    pub(super) fn first_divergent(&mut self, ranges: &[Range]) -> Result<Option<usize>, AgentError> {
        let first = self.hashed_run(ranges)?;
        let second = self.hashed_run(ranges)?;
        self.core.lap(|phases| &mut phases.verify);
        Ok(first.iter().zip(&second).position(|(one, other)| one != other))
    }

    /// One run of the list; the hashes after each entry.
    fn hashed_run(&mut self, ranges: &[Range]) -> Result<Vec<Vec<u64>>, AgentError> {
        let agent = self.core.agent();
        let restored = self.core.footprint.ranges(&self.core.restored);
        self.core.copy_back(&restored)?;
        let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
        let mut hashes = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            agent.submit(&entry.work)?;
            let ticket = agent.hash(ranges, self.core.chunk())?;
            self.core.bytes.compared += bytes;
            // Answered at once: a window may hold more entries than an agent keeps answers.
            match agent.answer(ticket, self.core.deadline())? {
                Answer::Hashes(found) => hashes.push(found),
                Answer::Chunks(_) => return Err(wrong_answer()),
            }
        }
        Ok(hashes)
    }
}
