//! A program that launches on a region of its own.

use super::{Odd, allocate};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{ByPlan, ClosingReason, Counters, Engine, Process, Range, Settings};
use std::sync::Arc;

pub struct Setup {
    pub agent: Arc<MemoryAgent>,
    pub engine: Arc<Engine<MemoryAgent>>,
    pub log: Arc<Log>,
    pub region: Range,
}

impl Setup {
    pub fn new(settings: Settings, counters: Option<Arc<dyn Counters>>) -> Self {
        Self::on(MemoryAgent::builder(0).build(), settings, counters)
    }

    pub fn on(agent: Arc<MemoryAgent>, settings: Settings, counters: Option<Arc<dyn Counters>>) -> Self {
        let log = Log::new();
        let process = Process::new(settings, Arc::new(Odd), Arc::new(ByPlan), log.clone());
        let engine = Engine::new(agent.clone(), counters, process).unwrap();
        let region = allocate(&agent, &engine, 4096);
        Self { agent, engine, log, region }
    }

    pub fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    pub fn closings(&self) -> Vec<(u32, u32, ClosingReason)> {
        self.log.windows().iter().map(|window| (window.dispatches, window.operations, window.closing)).collect()
    }
}
