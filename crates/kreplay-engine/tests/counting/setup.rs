//! A program whose launches have kernel windows, with scripted counters.

use crate::support::{Scripted, add, allocate, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{Engine, EveryKernel, Policy, Process, Range, Request, Settings};
use std::sync::Arc;

/// A program, its engine and what both are told.
pub(crate) struct Bench {
    pub(crate) agent: Arc<MemoryAgent>,
    pub(crate) engine: Arc<Engine<MemoryAgent>>,
    pub(crate) counters: Arc<Scripted>,
    pub(crate) log: Arc<Log>,
    pub(crate) region: Range,
}

/// An engine whose plan has a pass for each name.
pub(crate) fn bench(names: &[&str], policy: Arc<dyn Policy>, counters: Arc<Scripted>) -> Bench {
    let agent = MemoryAgent::builder(0).build();
    let request = Request { names: names.iter().map(|name| (*name).into()).collect(), repeat: 1, dispatches: 1 };
    let log = Log::new();
    let process = Process::new(Settings { request, ..settings(2) }, Arc::new(EveryKernel), policy, log.clone());
    let engine = Engine::new(agent.clone(), Some(counters.clone()), process).unwrap();
    let region = allocate(&agent, &engine, 8192);
    Bench { agent, engine, counters, log, region }
}

impl Bench {
    fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    /// Launches an addition of 1 and returns how much was added.
    pub(crate) fn launch(&self) -> u32 {
        let before = self.word();
        launch(&self.engine, &info(1), 0, &add(self.region, 1));
        self.word().wrapping_sub(before)
    }
}
