//! A GPU, its agent and its engine.

use crate::abi::AgentHandle;
use crate::agent::HsaAgent;
use std::sync::Arc;

/// The engine over this backend's agents.
pub(crate) type Engine = kreplay_engine::Engine<HsaAgent>;

/// A GPU that is profiled.
pub(crate) struct Unit {
    /// The agent.
    pub(crate) agent: Arc<HsaAgent>,
    /// Its engine.
    pub(crate) engine: Arc<Engine>,
}

impl Unit {
    /// The runtime's handle.
    pub(crate) fn handle(&self) -> AgentHandle {
        self.agent.handle()
    }
}
