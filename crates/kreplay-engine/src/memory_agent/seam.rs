//! The agent as the engine sees it.

use super::agent::MemoryAgent;
use super::faults::Call;
use super::memory::Work;
use super::queues::Step;
use crate::{
    Agent, AgentDescription, AgentError, Answer, Backing, Chunk, MemoryState, Move, Pair, Range, Ticket, Tier, Towards,
};
use std::time::Instant;

impl Agent for MemoryAgent {
    type Work = Work;

    fn describe(&self) -> AgentDescription {
        AgentDescription {
            id: self.id,
            name: "in-memory agent".into(),
            chip: "none".into(),
            simulated: true,
            capabilities: self.capabilities,
        }
    }

    fn memory(&self) -> Result<MemoryState, AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Memory)?;
        let used = state.allocated + state.held(Tier::Device);
        Ok(MemoryState { total: self.total, free: self.total.saturating_sub(used) })
    }

    fn allocate(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Allocate)?;
        if tier == Tier::Device && bytes > self.total.saturating_sub(state.allocated + state.held(Tier::Device)) {
            return Err(AgentError::Exhausted { tier, bytes });
        }
        let base = state.backing_next;
        state.backing_next += bytes.next_multiple_of(256) + 256;
        state.machine.memory.insert(base, bytes, self.poison);
        state.backing.insert(base, (tier, bytes));
        Ok(Backing { range: Range::new(base, bytes), tier, token: base })
    }

    fn free(&self, backing: Backing) {
        let mut state = self.state();
        let known = state.backing.remove(&backing.range.base);
        assert_eq!(known, Some((backing.tier, backing.range.bytes)), "backing was freed that is not held");
        assert!(state.machine.own.is_empty() || state.machine.orders.lost, "backing was freed before work on it ended");
        state.machine.memory.remove(backing.range.base);
    }

    fn copy(&self, moves: &[Move]) -> Result<(), AgentError> {
        self.push(Call::Copy, |_| Step::Copy(moves.to_vec())).map(drop)
    }

    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.observe("compare", pairs)?;
        let step = |ticket| Step::Compare { pairs: pairs.to_vec(), chunk, towards: None, ticket };
        self.push(Call::Compare, step).map(Ticket)
    }

    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError> {
        self.observe("synchronise", pairs)?;
        let step = |ticket| Step::Compare { pairs: pairs.to_vec(), chunk, towards: Some(towards), ticket };
        self.push(Call::Synchronise, step).map(Ticket)
    }

    fn hash(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.observe("hash", &[])?;
        self.push(Call::Hash, |ticket| Step::Hash { ranges: ranges.to_vec(), chunk, ticket }).map(Ticket)
    }

    fn answer(&self, ticket: Ticket, _: Instant) -> Result<Answer, AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Answer)?;
        state.wait()?;
        let missing = AgentError::Failed { call: "answer", status: "the ticket was answered or dropped before".into() };
        state.machine.answers.remove(&ticket.0).ok_or(missing)
    }

    fn submit(&self, work: &Work) -> Result<(), AgentError> {
        self.push(Call::Submit, |_| Step::Submit(work.clone())).map(drop)
    }

    fn mark(&self) -> Result<(), AgentError> {
        if !self.marks {
            return Err(AgentError::Unsupported("mark its queue"));
        }
        self.push(Call::Mark, |_| Step::Mark).map(drop)
    }

    fn reached(&self) -> Option<u64> {
        self.marks.then(|| self.state().machine.marks)
    }

    fn drain(&self, _: Instant) -> Result<(), AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Drain)?;
        state.wait()?;
        state.machine.marks = 0;
        let idle = state.machine.run_program();
        if idle { Ok(()) } else { Err(AgentError::Deadline { what: "a queue of the program" }) }
    }

    fn kept(&self) -> Result<(), AgentError> {
        self.meet(&mut self.state(), Call::Kept).map(drop)
    }

    fn settle(&self, _: Instant) -> Result<(), AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Settle)?;
        state.wait()?;
        state.machine.answers.clear();
        state.machine.marks = 0;
        Ok(())
    }
}

impl MemoryAgent {
    /// Refuses what the capabilities do not hold.
    fn observe(&self, what: &'static str, pairs: &[Pair]) -> Result<(), AgentError> {
        let state = self.state();
        let in_host = |pair: &Pair| {
            let block = state.backing.range(..=pair.shadow).next_back();
            block.is_some_and(|(base, (tier, bytes))| *tier == Tier::Host && pair.shadow < base + bytes)
        };
        let able = self.capabilities.observe && !pairs.iter().any(in_host);
        if able { Ok(()) } else { Err(AgentError::Unsupported(what)) }
    }
}
