//! The agent as the engine sees it.

use super::HsaAgent;
use super::work::{Again, HsaWork};
use kreplay_engine::{
    Agent, AgentDescription, AgentError, Answer, Backing, Capabilities, Chunk, MemoryState, Move, Pair, Range, Ticket,
    Tier, Towards,
};
use std::time::Instant;

impl Agent for HsaAgent {
    type Work = HsaWork;

    fn describe(&self) -> AgentDescription {
        let observe = super::kernels::known(&self.gpu.chip);
        AgentDescription {
            id: self.id,
            name: self.gpu.product.as_str().into(),
            chip: self.gpu.chip.as_str().into(),
            simulated: self.gpu.simulated,
            capabilities: Capabilities { observe },
        }
    }

    fn memory(&self) -> Result<MemoryState, AgentError> {
        self.memory_state()
    }

    fn allocate(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        self.allocate_backing(tier, bytes)
    }

    fn free(&self, backing: Backing) {
        self.free_backing(backing);
    }

    fn copy(&self, moves: &[Move]) -> Result<(), AgentError> {
        self.copy_moves(moves)
    }

    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.compare_pairs(pairs, chunk, 0)
    }

    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError> {
        self.compare_pairs(pairs, chunk, if towards == Towards::Shadow { 1 } else { 2 })
    }

    fn hash(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.hash_ranges(ranges, chunk)
    }

    fn answer(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError> {
        self.answer_ticket(ticket, deadline)
    }

    fn submit(&self, work: &HsaWork) -> Result<(), AgentError> {
        match work.again() {
            Again::Packet(packet) => self.own()?.push(&[packet]),
            Again::Moves(moves) => self.copy(moves),
            Again::Nothing => Ok(()),
        }
    }

    fn mark(&self) -> Result<(), AgentError> {
        self.own()?.mark()
    }

    fn reached(&self) -> Option<u64> {
        Some(self.own().map_or(0, |own| own.marks_reached()))
    }

    fn records(&self) -> bool {
        true
    }

    fn work_bytes(&self, work: &HsaWork) -> u64 {
        work.bytes()
    }

    fn drain(&self, deadline: Instant) -> Result<(), AgentError> {
        self.program.drain(deadline)?;
        self.own()?.settle(deadline)
    }

    fn settle(&self, deadline: Instant) -> Result<(), AgentError> {
        self.own()?.settle(deadline)
    }
}
