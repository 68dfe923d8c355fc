//! The agent itself: what it is, and how a call that can fail is met.

use super::faults::{Call, Verdict};
use super::queues::{Machine, Step};
use crate::lock::lock;
use crate::{AgentError, AgentId, Capabilities, Move, Tier};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// See the module.
pub struct MemoryAgent {
    pub(super) id: AgentId,
    pub(super) capabilities: Capabilities,
    pub(super) lazy: bool,
    pub(super) marks: bool,
    pub(super) total: u64,
    pub(super) poison: u8,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) machine: Machine,
    pub(super) program: BTreeMap<u64, u64>,
    pub(super) backing: BTreeMap<u64, (Tier, u64)>,
    pub(super) program_next: u64,
    pub(super) backing_next: u64,
    pub(super) next_ticket: u64,
    pub(super) counts: BTreeMap<Call, u64>,
    pub(super) allocated: u64,
}

impl MemoryAgent {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Counts a call, then asks what it does.
    pub(super) fn meet(&self, state: &mut State, call: Call) -> Result<Option<AgentError>, AgentError> {
        *state.counts.entry(call).or_default() += 1;
        match state.machine.orders.meet(call) {
            Verdict::Runs => Ok(None),
            Verdict::FailsLater(error) => Ok(Some(error)),
            Verdict::Fails(error) => Err(error),
        }
    }

    /// Queues a step, or what a late fault makes of it.
    pub(super) fn push(&self, call: Call, step: impl FnOnce(u64) -> Step) -> Result<u64, AgentError> {
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
    pub(super) fn program_insert(&mut self, base: u64, bytes: u64, poison: u8) {
        self.machine.memory.insert(base, bytes, poison);
        self.program.insert(base, bytes);
        self.allocated += bytes;
    }

    pub(super) fn held(&self, tier: Tier) -> u64 {
        self.backing.values().filter(|(held, _)| *held == tier).map(|(_, bytes)| bytes).sum()
    }

    /// Runs everything that was asked for, and tells what went wrong since the last wait.
    pub(super) fn wait(&mut self) -> Result<(), AgentError> {
        if !self.machine.run_own() {
            return Err(AgentError::Deadline { what: "a kernel" });
        }
        self.machine.orders.late.take().map_or(Ok(()), Err)
    }
}
