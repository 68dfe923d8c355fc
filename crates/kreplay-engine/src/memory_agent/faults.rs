//! Faults to order.

use crate::{AgentError, Tier};
use std::collections::BTreeMap;

/// A fallible call of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// [`crate::Agent::memory`].
    Memory,
    /// [`crate::Agent::allocate`].
    Allocate,
    /// [`crate::Agent::copy`].
    Copy,
    /// [`crate::Agent::compare`].
    Compare,
    /// [`crate::Agent::synchronise`].
    Synchronise,
    /// [`crate::Agent::hash`].
    Hash,
    /// [`crate::Agent::answer`].
    Answer,
    /// [`crate::Agent::submit`].
    Submit,
    /// [`crate::Agent::mark`].
    Mark,
    /// [`crate::Agent::kept`].
    Kept,
    /// [`crate::Agent::drain`].
    Drain,
    /// [`crate::Agent::settle`].
    Settle,
}

impl Call {
    /// Every one, in the order of the seam.
    pub const ALL: [Self; 12] = [
        Call::Memory,
        Call::Allocate,
        Call::Copy,
        Call::Compare,
        Call::Synchronise,
        Call::Hash,
        Call::Answer,
        Call::Submit,
        Call::Mark,
        Call::Kept,
        Call::Drain,
        Call::Settle,
    ];
}

/// What goes wrong in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails. A copy has been done by half, a kernel not at all.
    Fails,
    /// The call succeeds, what was asked for is done by half or not at all, and the next wait says so.
    FailsLater,
    /// The device is gone, from now on.
    Lost,
    /// There is no room, or the time is up, whichever the call can say; other calls fail.
    Denied,
}

/// Orders by number of the call.
#[derive(Debug, Default)]
pub(super) struct Orders {
    calls: u64,
    ordered: BTreeMap<u64, Fault>,
    every: Option<(Call, Fault)>,
    pub(super) lost: bool,
    /// Errors that the next wait tells.
    pub(super) late: Option<AgentError>,
    log: Vec<Call>,
}

/// What a call does.
pub(super) enum Verdict {
    Runs,
    Fails(AgentError),
    FailsLater(AgentError),
}

impl Orders {
    pub(super) fn at(&mut self, number: u64, fault: Fault) {
        self.restart();
        self.ordered.insert(number, fault);
    }

    pub(super) fn also_at(&mut self, number: u64, fault: Fault) {
        self.ordered.insert(number, fault);
    }

    pub(super) fn every(&mut self, order: Option<(Call, Fault)>) {
        self.every = order;
    }

    pub(super) fn log(&self) -> &[Call] {
        &self.log
    }

    pub(super) fn restart(&mut self) {
        self.ordered.clear();
        self.calls = 0;
        self.log.clear();
    }

    /// Counts a call and says what it does.
    pub(super) fn meet(&mut self, call: Call) -> Verdict {
        let number = self.calls;
        self.calls += 1;
        self.log.push(call);
        if self.lost {
            return Verdict::Fails(lost());
        }
        let ordered = self.ordered.get(&number).copied();
        let Some(fault) = ordered.or(self.every.filter(|(which, _)| *which == call).map(|(_, fault)| fault)) else {
            return Verdict::Runs;
        };
        let waits = matches!(call, Call::Answer | Call::Drain | Call::Settle);
        match fault {
            Fault::Lost => {
                self.lost = true;
                Verdict::Fails(lost())
            }
            Fault::Denied if call == Call::Allocate => {
                Verdict::Fails(AgentError::Exhausted { tier: Tier::Device, bytes: 0 })
            }
            Fault::Denied if waits => Verdict::Fails(AgentError::Deadline { what: "the ordered fault" }),
            Fault::FailsLater if !waits && !matches!(call, Call::Allocate | Call::Memory | Call::Kept) => {
                Verdict::FailsLater(failed())
            }
            Fault::Fails | Fault::FailsLater | Fault::Denied => Verdict::Fails(failed()),
        }
    }
}

fn lost() -> AgentError {
    AgentError::Lost("by order of the test".into())
}

fn failed() -> AgentError {
    AgentError::Failed { call: "memory agent", status: "a fault was ordered".into() }
}
