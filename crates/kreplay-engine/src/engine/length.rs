//! Whether dispatches go into batch windows, and how many into one.

use super::Engine;
use crate::lock::lock;
use crate::{Agent, AgentDescription, RestoreMode, Settings, WindowMode};

/// How many dispatches a window of this agent is expected to hold, for the planner.
pub(super) fn expected_dispatches<A: Agent>(agent: &A, settings: &Settings) -> u32 {
    if batches(agent, &agent.describe(), settings) { settings.batch.expected() } else { 1 }
}

/// Whether dispatches of this agent go into batch windows.
fn batches<A: Agent>(agent: &A, description: &AgentDescription, settings: &Settings) -> bool {
    let wanted = match settings.window {
        WindowMode::Kernel => false,
        WindowMode::Batch => true,
        WindowMode::Auto => agent.records(),
    };
    wanted && settings.restore == RestoreMode::Observed && description.capabilities.observe
}

impl<A: Agent> Engine<A> {
    /// Whether dispatches go into batch windows.
    pub(super) fn batches(&self) -> bool {
        batches(&*self.agent, &self.description, &self.process.settings)
    }

    /// How many dispatches the next batch window holds.
    pub fn next_length(&self) -> u32 {
        let most = self.most_dispatches();
        let steady = self.counters.as_ref().and_then(|counters| counters.steady_dispatches(&self.plan));
        steady.map_or_else(|| lock(&self.length).next(most), |steady| steady.clamp(1, most))
    }

    /// Most dispatches that any batch window may hold.
    pub(crate) fn most_dispatches(&self) -> u32 {
        let counters = self.counters.as_ref().map_or(u32::MAX, |counters| counters.most_dispatches(&self.plan));
        self.process.settings.batch.dispatches.min(counters).max(1)
    }

    /// Most dispatches that may be submitted as one: such a window holds nothing else.
    pub(super) fn most_together(&self) -> u32 {
        let counters = self.counters.as_ref().map_or(u32::MAX, |counters| counters.most_together(&self.plan));
        self.process.settings.batch.dispatches.min(counters).max(self.most_dispatches())
    }

    /// Whether launches that are not selected take up room in a window.
    pub(crate) fn counts_every_launch(&self) -> bool {
        self.counters.as_ref().is_some_and(|counters| counters.counts_every_launch(&self.plan))
    }
}
