//! Which dispatch of a batch window does other work every time it runs.
//!
//! The hashes at the end of a pass say that a window diverged, not where. With `--verify all` the list is run twice more
//! from the snapshot, and what the window writes is hashed after every entry: the first entry after which the two runs
//! differ is the one. A divergence that does not come again is not found so; then all dispatches stay marked.

use super::Batch;
use super::overdue::Overdue;
use crate::verify::wrong_answer;
use crate::{Agent, AgentError, Answer, Range};
use std::hash::{DefaultHasher, Hash, Hasher};

impl<A: Agent> Batch<A> {
    /// The place in the list of the first entry that does other work each time, if the two runs show one. `ranges` is
    /// what the window writes. The second run ends there: memory is put back afterwards as after any pass.
    pub(super) fn first_divergent(&mut self, ranges: &[Range]) -> Result<Option<usize>, AgentError> {
        let mut first = Vec::with_capacity(self.entries.len());
        self.run_hashed(ranges, |_, digest| {
            first.push(digest);
            true
        })?;
        let mut found = None;
        self.run_hashed(ranges, |at, digest| {
            found = (first.get(at) != Some(&digest)).then_some(at);
            found.is_none()
        })?;
        self.core.lap(|phases| &mut phases.verify);
        Ok(found)
    }

    /// Runs the list, until `go_on` says otherwise: it is told each entry's place and a digest of the hashes after it. The
    /// hashes themselves are one a chunk and entry, which would be gigabytes.
    fn run_hashed(&mut self, ranges: &[Range], mut go_on: impl FnMut(usize, u64) -> bool) -> Result<(), AgentError> {
        let agent = self.core.agent();
        let restored = self.core.footprint.ranges(&self.core.restored);
        self.core.copy_back(&restored)?;
        let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
        // The first entry must not be taken for what is done before it.
        agent.settle(self.core.deadline())?;
        for at in 0..self.entries.len() {
            // Answered at once: a window may hold more entries than an agent keeps answers.
            let hashed = self.hash_behind(&*agent, at, ranges);
            if let Err(AgentError::Deadline { .. }) = hashed {
                self.overdue = Some(Overdue::Entry(at));
            }
            self.core.bytes.compared += bytes;
            if !go_on(at, digest(&hashed?)) {
                break;
            }
        }
        Ok(())
    }

    /// Runs one entry; the hashes after it.
    fn hash_behind(&self, agent: &A, at: usize, ranges: &[Range]) -> Result<Vec<u64>, AgentError> {
        agent.submit(&self.entries[at].work)?;
        let ticket = agent.hash(ranges, self.core.chunk())?;
        match agent.answer(ticket, self.core.deadline())? {
            Answer::Hashes(hashes) => Ok(hashes),
            Answer::Chunks(_) => Err(wrong_answer()),
        }
    }
}

/// Stands for all of these, in their order.
fn digest(hashes: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hashes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_every_hash_and_their_order_apart() {
        let hashes: Vec<u64> = (0..1000).map(|at| at * 0x9e37_79b9).collect();
        let whole = digest(&hashes);
        assert_eq!(whole, digest(&hashes.clone()));
        for at in 0..hashes.len() {
            let mut others = hashes.clone();
            others[at] ^= 1 << (at % 64);
            assert_ne!(digest(&others), whole);
            others = hashes.clone();
            others.swap(at, (at + 1) % hashes.len());
            assert_ne!(digest(&others), whole);
        }
        assert_ne!(digest(&hashes[1..]), whole);
    }
}
