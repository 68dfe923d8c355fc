//! A program whose launches go into batch windows.

use crate::support::{Odd, Scripted, add, allocate, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{ByPlan, ClosingReason, Counters, Engine, Process, Range, Settings, WindowMode};
use std::sync::Arc;

pub(crate) fn batch(passes: u32) -> Settings {
    Settings { window: WindowMode::Batch, ..settings(passes) }
}

pub(crate) struct Setup {
    pub(crate) agent: Arc<MemoryAgent>,
    pub(crate) engine: Arc<Engine<MemoryAgent>>,
    pub(crate) log: Arc<Log>,
    pub(crate) region: Range,
}

pub(crate) fn setup(settings: Settings, counters: Option<Arc<Scripted>>) -> Setup {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let process = Process::new(settings, Arc::new(Odd), Arc::new(ByPlan), log.clone());
    let counters = counters.map(|counters| counters as Arc<dyn Counters>);
    let engine = Engine::new(agent.clone(), counters, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    Setup { agent, engine, log, region }
}

impl Setup {
    pub(crate) fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    pub(crate) fn launch(&self, key: u64) {
        launch(&self.engine, &info(key), 0, &add(self.region, 1));
    }

    pub(crate) fn closings(&self) -> Vec<(u32, u32, ClosingReason)> {
        self.log.windows().iter().map(|window| (window.dispatches, window.operations, window.closing)).collect()
    }
}
