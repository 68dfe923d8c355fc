//! The agent itself.

use super::faults::{Call, Fault, Verdict};
use super::memory::{Memory, Work};
use super::queues::{Machine, Step};
use crate::lock::lock;
use crate::{
    Agent, AgentDescription, AgentError, AgentId, Answer, Backing, Capabilities, Chunk, MemoryState, Move, Pair, Range,
    Ticket, Tier, Towards,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

const PROGRAM_BASE: u64 = 0x1000_0000_0000;
const BACKING_BASE: u64 = 0x2000_0000_0000;
/// Fresh memory holds this, so that nobody relies on zeroes.
const POISON: u8 = 0xa5;

/// See the module.
pub struct MemoryAgent {
    id: AgentId,
    capabilities: Capabilities,
    lazy: bool,
    total: u64,
    poison: u8,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    machine: Machine,
    program: BTreeMap<u64, u64>,
    backing: BTreeMap<u64, (Tier, u64)>,
    program_next: u64,
    backing_next: u64,
    next_ticket: u64,
    counts: BTreeMap<Call, u64>,
    allocated: u64,
}

/// What the engine has of the agent now, and has asked of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Backing in device memory, in bytes.
    pub device: u64,
    /// Backing in host memory, in bytes.
    pub host: u64,
    /// Allocations of backing so far.
    pub allocations: u64,
    /// Bytes that copies moved so far.
    pub copied: u64,
    /// Bytes compared so far, synchronised ones included.
    pub compared: u64,
}

/// Makes a [`MemoryAgent`].
#[derive(Clone, Debug)]
pub struct Builder {
    id: u64,
    capabilities: Capabilities,
    lazy: bool,
    total: u64,
    poison: u8,
}

impl Builder {
    /// What it can do on the device; everything on device memory unless this is called.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Runs everything at once instead of when it is waited for.
    #[must_use]
    pub fn eager(mut self) -> Self {
        self.lazy = false;
        self
    }

    /// Leaves fresh memory zero instead of poisoning it: large benchmarks then touch only what they use.
    #[must_use]
    pub fn unpoisoned(mut self) -> Self {
        self.poison = 0;
        self
    }

    /// Device memory in bytes.
    #[must_use]
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.total = bytes;
        self
    }

    /// The agent.
    pub fn build(self) -> Arc<MemoryAgent> {
        Arc::new(MemoryAgent {
            id: AgentId(self.id),
            capabilities: self.capabilities,
            lazy: self.lazy,
            total: self.total,
            poison: self.poison,
            state: Mutex::new(State {
                program_next: PROGRAM_BASE + (self.id << 40),
                backing_next: BACKING_BASE + (self.id << 40),
                ..State::default()
            }),
        })
    }
}

impl MemoryAgent {
    /// A lazy agent of number `id` (below 4096) with 1 TiB of device memory.
    pub fn builder(id: u64) -> Builder {
        let capabilities = Capabilities { observe: true, observe_host: false };
        Builder { id, capabilities, lazy: true, total: 1 << 40, poison: POISON }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The program allocates device memory: aligned to 256 bytes, poisoned.
    pub fn program_allocate(&self, bytes: u64) -> u64 {
        let mut state = self.state();
        let base = state.program_next;
        state.program_next += bytes.next_multiple_of(256) + 256;
        state.program_insert(base, bytes, self.poison);
        base
    }

    /// The program gets device memory at an address that was free.
    pub fn program_allocate_at(&self, base: u64, bytes: u64) {
        self.state().program_insert(base, bytes, self.poison);
    }

    /// The program frees device memory.
    pub fn program_free(&self, base: u64) {
        let mut state = self.state();
        assert!(state.program.remove(&base).is_some(), "the program frees what it has");
        let bytes = state.machine.memory.remove(base);
        state.allocated -= bytes;
    }

    /// The program launches a kernel on a queue; it runs when the queue is waited for.
    pub fn program_launch(&self, queue: u64, work: &Work) {
        let mut state = self.state();
        state.machine.program.push_back((queue, work.clone()));
        if !self.lazy {
            state.machine.run_program();
        }
    }

    /// The program waits for all its queues.
    pub fn program_synchronise(&self) {
        self.state().machine.run_program();
    }

    /// Whether the program's launches wait in this queue until [`MemoryAgent::resume`].
    pub fn stall(&self, queue: u64) {
        self.state().machine.stalled.insert(queue);
    }

    /// Lets a stalled queue run.
    pub fn resume(&self, queue: u64) {
        self.state().machine.stalled.remove(&queue);
    }

    /// Touches memory directly, as the program's calls or a foreign writer would.
    pub fn with_memory<T>(&self, touch: impl FnOnce(&mut Memory) -> T) -> T {
        touch(&mut self.state().machine.memory)
    }

    /// Bytes of program memory, after the program waited for its queues.
    pub fn program_read(&self, range: Range) -> Vec<u8> {
        self.program_synchronise();
        self.with_memory(|memory| memory.bytes(range).to_vec())
    }

    /// Orders a fault for the fallible call of this number, counted from now.
    pub fn fail_at(&self, number: u64, fault: Fault) {
        self.state().machine.orders.at(number, fault);
    }

    /// Orders a fault for every call of a kind, or ends that.
    pub fn fail_every(&self, order: Option<(Call, Fault)>) {
        self.state().machine.orders.every(order);
    }

    /// Withdraws what was ordered by number, and counts calls anew.
    pub fn restart_count(&self) {
        self.state().machine.orders.restart();
    }

    /// The fallible calls since the count began.
    pub fn calls(&self) -> Vec<Call> {
        self.state().machine.orders.log().to_vec()
    }

    /// The engine's submission of this number (from 0, counted since the agent was made) hangs: so many waits run into
    /// their deadline, then it goes on. `u32::MAX`: it never does.
    pub fn hang(&self, number: u64, waits: u32) {
        self.state().machine.hang = Some((number, waits));
    }

    /// Submissions that ran so far.
    pub fn submissions(&self) -> u64 {
        self.state().machine.submitted
    }

    /// What the engine has of the agent.
    pub fn usage(&self) -> Usage {
        let state = self.state();
        Usage {
            device: state.held(Tier::Device),
            host: state.held(Tier::Host),
            allocations: state.counts.get(&Call::Allocate).copied().unwrap_or_default(),
            copied: state.machine.copied_bytes,
            compared: state.machine.compared_bytes,
        }
    }

    /// Time spent on what the engine asked for and on the program's kernels.
    pub fn busy(&self) -> Duration {
        self.state().machine.busy
    }

    /// Counts a call, then asks what it does.
    fn meet(&self, state: &mut State, call: Call) -> Result<Option<AgentError>, AgentError> {
        *state.counts.entry(call).or_default() += 1;
        match state.machine.orders.meet(call) {
            Verdict::Runs => Ok(None),
            Verdict::FailsLater(error) => Ok(Some(error)),
            Verdict::Fails(error) => Err(error),
        }
    }

    /// Queues a step, or what a late fault makes of it.
    fn push(&self, call: Call, step: impl FnOnce(u64) -> Step) -> Result<u64, AgentError> {
        let mut state = self.state();
        let verdict = self.meet(&mut state, call);
        state.next_ticket += 1;
        let ticket = state.next_ticket;
        let mut step = step(ticket);
        let result = match verdict {
            Ok(None) => {
                state.machine.own.push_back(step);
                Ok(ticket)
            }
            Ok(Some(late)) => {
                // A copy has been done by half.
                if let Step::Copy(moves) = &mut step {
                    halve(moves);
                    state.machine.own.push_back(step);
                }
                state.machine.own.push_back(Step::Fail(late));
                Ok(ticket)
            }
            Err(error) => {
                if let (Step::Copy(moves), false) = (&mut step, state.machine.orders.lost) {
                    halve(moves);
                    state.machine.own.push_back(step);
                }
                Err(error)
            }
        };
        if !self.lazy {
            state.machine.run_own();
        }
        result
    }
}

fn halve(moves: &mut Vec<Move>) {
    moves.truncate(moves.len().div_ceil(2));
    if let Some(last) = moves.last_mut() {
        last.bytes = last.bytes.div_ceil(2);
    }
}

impl State {
    fn program_insert(&mut self, base: u64, bytes: u64, poison: u8) {
        self.machine.memory.insert(base, bytes, poison);
        self.program.insert(base, bytes);
        self.allocated += bytes;
    }

    fn held(&self, tier: Tier) -> u64 {
        self.backing.values().filter(|(held, _)| *held == tier).map(|(_, bytes)| bytes).sum()
    }

    /// Runs everything that was asked for, and tells what went wrong since the last wait.
    fn wait(&mut self) -> Result<(), AgentError> {
        if !self.machine.run_own() {
            return Err(AgentError::Deadline { what: "a kernel" });
        }
        self.machine.orders.late.take().map_or(Ok(()), Err)
    }
}

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

    fn drain(&self, _: Instant) -> Result<(), AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Drain)?;
        state.wait()?;
        let idle = state.machine.run_program();
        if idle { Ok(()) } else { Err(AgentError::Deadline { what: "a queue of the program" }) }
    }

    fn settle(&self, _: Instant) -> Result<(), AgentError> {
        let mut state = self.state();
        self.meet(&mut state, Call::Settle)?;
        state.wait()?;
        state.machine.answers.clear();
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
        let able = self.capabilities.observe && (self.capabilities.observe_host || !pairs.iter().any(in_host));
        if able { Ok(()) } else { Err(AgentError::Unsupported(what)) }
    }
}
