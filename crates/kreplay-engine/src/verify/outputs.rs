//! The hashes of what the passes wrote.

use crate::{Agent, AgentError, Answer, Chunk, Divergence, Range, Ticket};
use std::time::Instant;

/// The outputs of pass 0 and the hashes that are still on their way.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    ranges: Vec<Range>,
    /// Pass 0's hashes, once they were answered.
    first: Option<Vec<u64>>,
    pending: Vec<(u32, Ticket)>,
    off: bool,
}

impl Outputs {
    /// Checks nothing.
    pub(crate) fn off() -> Self {
        Self { off: true, ..Self::default() }
    }

    /// Checks these ranges after every pass.
    pub(crate) fn of(ranges: Vec<Range>) -> Self {
        Self { off: ranges.is_empty(), ranges, ..Self::default() }
    }

    /// Nothing can be checked any more: what pass 0 wrote is partly gone.
    pub(crate) fn stop(&mut self) {
        *self = Self::off();
    }

    /// Hashes what pass `pass` wrote; nothing waits. Returns the bytes read.
    pub(crate) fn hash<A: Agent>(&mut self, agent: &A, pass: u32, chunk: Chunk) -> Result<u64, AgentError> {
        if self.off {
            return Ok(0);
        }
        self.pending.push((pass, agent.hash(&self.ranges, chunk)?));
        Ok(self.ranges.iter().map(|range| range.bytes).sum())
    }

    /// Waits for what was hashed. Returns the first divergence, in order of the passes.
    pub(crate) fn answer<A: Agent>(
        &mut self,
        agent: &A,
        chunk: Chunk,
        deadline: Instant,
    ) -> Result<Option<Divergence>, AgentError> {
        let mut found = None;
        for (pass, ticket) in std::mem::take(&mut self.pending) {
            let Answer::Hashes(hashes) = agent.answer(ticket, deadline)? else {
                return Err(wrong_answer());
            };
            match &self.first {
                None => self.first = Some(hashes),
                Some(first) if *first == hashes => {}
                Some(first) => found = found.or_else(|| Some(self.first_difference(pass, first, &hashes, chunk))),
            }
        }
        Ok(found)
    }

    fn first_difference(&self, pass: u32, first: &[u64], hashes: &[u64], chunk: Chunk) -> Divergence {
        let mut differing = self
            .ranges
            .iter()
            .flat_map(|range| {
                (0..chunk.count(range.bytes)).map(move |index| {
                    let start = index * chunk.bytes();
                    Range::new(range.base + start, chunk.bytes().min(range.bytes - start))
                })
            })
            .enumerate()
            .filter(|(index, _)| first.get(*index) != hashes.get(*index))
            .map(|(_, range)| range);
        let range = differing.next().unwrap_or_default();
        let bytes = range.bytes + differing.map(|range| range.bytes).sum::<u64>();
        Divergence { pass: Some(pass), range, escaped: false, bytes }
    }
}

/// An agent that answers something else than was asked.
pub(crate) fn wrong_answer() -> AgentError {
    AgentError::Failed { call: "answer", status: "the answer is of another kind than the question".into() }
}
