//! A program with counters that count its own launches.

use crate::support::{InLine, add, allocate, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{
    ByPlan, ClosingReason, Counters, Decision, DispatchInfo, Engine, EveryKernel, Filter, Passes, Plan, Policy,
    Process, Range, Request, Settings, WindowMode,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kernels from 100 on run by the plan, the others once.
pub(crate) struct Mixed;

impl Policy for Mixed {
    fn passes(&self, dispatch: &DispatchInfo, plan: &Plan) -> Passes {
        if dispatch.kernel.key >= 100 { Passes::Exactly(plan.passes.len() as u32) } else { Passes::Once }
    }
}

pub(crate) struct Setup {
    pub(crate) agent: Arc<MemoryAgent>,
    pub(crate) counters: Arc<InLine>,
    pub(crate) engine: Arc<Engine<MemoryAgent>>,
    pub(crate) log: Arc<Log>,
    pub(crate) region: Range,
}

pub(crate) fn counted(names: &[&str]) -> Settings {
    let request = Request { names: names.iter().map(|name| (*name).into()).collect(), repeat: 1, dispatches: 0 };
    Settings { request, window: WindowMode::Auto, ..settings(1) }
}

pub(crate) fn setup_with(
    settings: Settings,
    counters: InLine,
    filter: Arc<dyn Filter>,
    policy: Arc<dyn Policy>,
) -> Setup {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let counters = Arc::new(counters);
    let process = Process::new(settings, filter, policy, log.clone());
    let engine = Engine::new(agent.clone(), Some(counters.clone() as Arc<dyn Counters>), process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    counters.take();
    Setup { agent, counters, engine, log, region }
}

pub(crate) fn setup(settings: Settings) -> Setup {
    setup_with(settings, InLine::default(), Arc::new(EveryKernel), Arc::new(ByPlan))
}

impl Setup {
    pub(crate) fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    pub(crate) fn launch(&self, info: &DispatchInfo) {
        // What would run it again is never asked for.
        let decision = self.engine.dispatch(info, || panic!("nothing is recorded"));
        let (Decision::Run(guard) | Decision::Recorded(guard)) = decision else { panic!("it has a window of its own") };
        self.agent.program_launch(0, &add(self.region, 1));
        drop(guard);
    }

    pub(crate) fn closings(&self) -> Vec<(u32, u32, ClosingReason)> {
        self.log.windows().iter().map(|window| (window.dispatches, window.operations, window.closing)).collect()
    }

    pub(crate) fn finish(&self) {
        self.engine.finish(Instant::now() + Duration::from_secs(20));
    }
}
