//! What a test orders of the agent and asks it about the engine.

use super::agent::MemoryAgent;
use super::faults::{Call, Fault};
use crate::Tier;
use std::time::Duration;

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

impl MemoryAgent {
    /// Orders a fault for the fallible call of this number, counted from now.
    pub fn fail_at(&self, number: u64, fault: Fault) {
        self.state().machine.orders.at(number, fault);
    }

    /// Orders one more, for the call of this number counted as the first's.
    pub fn fail_also_at(&self, number: u64, fault: Fault) {
        self.state().machine.orders.also_at(number, fault);
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
}
