//! Counters: what they are asked, in which order, and their readings.

use crate::setup::bench;
use crate::support::{Scripted, Told, add, allocate, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    Agent, ByPlan, CounterInfo, Counters, CountersError, Decision, Deliver, Engine, EveryKernel, LastPass, Outcome,
    Passes, Plan, PlanError, PlannedPass, Process, Request, Settings,
};
use std::sync::Arc;
use std::time::Instant;

#[test]
fn every_pass_is_counted_in_order_and_readings_follow_the_record() {
    let bench = bench(&["a", "b", "c"], Arc::new(ByPlan), Scripted::new());
    assert_eq!(bench.launch(), 1);
    let pass = |index| [format!("begin {index}"), "before 0".into(), "after 0".into(), "end".into()];
    let mut expected = vec!["open 1".to_owned()];
    (0..3).for_each(|index| expected.extend(pass(index)));
    expected.push("collect".into());
    assert_eq!(bench.counters.take(), expected);
    let record = bench.log.last_dispatch();
    assert_eq!((record.outcome, record.passes_asked, record.passes_done), (Outcome::Replayed, 3, 3));
    let readings = bench.log.readings();
    assert_eq!((readings.len(), readings[0].0, readings[0].1.len()), (1, record.id, 3));
    let clocks: Vec<_> = bench.log.windows().iter().map(|window| window.clock_mhz).collect();
    assert_eq!(clocks, [Some(1980)], "a window says at what clock it was counted");
}

#[test]
fn windows_that_only_take_times_do_not_ask_for_the_clock() {
    let bench = bench(&["time", "time"], Arc::new(ByPlan), Scripted::new());
    assert_eq!(bench.launch(), 1);
    assert_eq!(bench.log.windows().iter().map(|window| window.clock_mhz).collect::<Vec<_>>(), [None]);
}

#[test]
fn readings_may_come_later_from_another_thread() {
    let bench = bench(&["a", "b"], Arc::new(ByPlan), Scripted::late());
    bench.launch();
    assert!(bench.log.readings().is_empty());
    let counters = bench.counters.clone();
    std::thread::spawn(move || counters.deliver()).join().unwrap();
    assert_eq!(bench.log.readings().len(), 1);
    bench.launch();
    bench.engine.finish(Instant::now());
    assert_eq!(bench.log.readings().len(), 2, "the end of the program hands over what is owed");
}

#[test]
fn a_dispatch_whose_values_are_lost_is_told_with_the_reason() {
    for (passes, losing, kept) in [(&["a"][..], 0, 0), (&["a", "b"], 1, 1)] {
        let bench = bench(passes, Arc::new(ByPlan), Scripted::new());
        *bench.counters.losing.lock().unwrap() = Some(losing);
        bench.launch();
        let id = bench.log.last_dispatch().id;
        assert_eq!(bench.log.readings().iter().map(|(_, readings)| readings.len()).sum::<usize>(), kept);
        assert_eq!(bench.log.lost(), [(id, "values are lost: they did not fit".to_owned())]);
        assert_eq!(bench.log.warnings(), ["counters_lost"]);
    }
}

#[test]
fn a_pass_with_its_counters_off_runs_uncounted() {
    let mut policy = Told::new(Passes::Exactly(3));
    policy.uncounted = vec![1];
    let bench = bench(&["a", "b", "c"], Arc::new(policy), Scripted::new());
    assert_eq!(bench.launch(), 1);
    let begun: Vec<_> = bench.counters.take().into_iter().filter(|call| call.starts_with("begin")).collect();
    assert_eq!(begun, ["begin 0", "begin 2"]);
    assert_eq!(bench.log.last_dispatch().passes_done, 3);
}

#[test]
fn a_request_that_cannot_be_planned_is_an_error() {
    let agent = MemoryAgent::builder(0).build();
    let request = Request { names: vec!["?".into()], repeat: 1, dispatches: 1 };
    let process =
        Process::new(Settings { request, ..settings(2) }, Arc::new(EveryKernel), Arc::new(ByPlan), Log::new());
    let error = Engine::new(agent, Some(Scripted::new()), process).err();
    assert_eq!(error, Some(PlanError::Unknown { name: "?".into(), near: vec![] }));
}

#[test]
fn without_counters_a_request_takes_times_once() {
    let agent = MemoryAgent::builder(0).build();
    let request = Request { names: vec!["a".into(), "b".into()], repeat: 1, dispatches: 1 };
    let log = Log::new();
    let process =
        Process::new(Settings { request, ..settings(5) }, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    assert_eq!(engine.plan().passes.len(), 1);
    let region = allocate(&agent, &engine, 64);
    launch(&engine, &info(1), 0, &add(region, 1)).unwrap();
    assert_eq!(log.last_dispatch().outcome, Outcome::Counted);
    assert_eq!(log.warnings(), ["uncounted"]);
}

/// Counters that begin a pass by work on the agent's queue, as real ones do.
struct Queued(Arc<Scripted>, Arc<MemoryAgent>, u64);

impl Counters for Queued {
    fn list(&self) -> Vec<CounterInfo> {
        self.0.list()
    }
    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        self.0.plan(request)
    }
    fn open(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError> {
        self.0.open(plan, dispatches)
    }
    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        let (at, index) = (self.2, pass.index);
        let mark = Work::new(move |memory| memory.store(at, index));
        Agent::submit(&*self.1, &mark).unwrap();
        self.0.begin(pass)
    }
    fn before(&self, index: u32) -> Result<(), CountersError> {
        self.0.before(index)
    }
    fn after(&self, index: u32) -> Result<(), CountersError> {
        self.0.after(index)
    }
    fn end(&self) -> Result<(), CountersError> {
        self.0.end()
    }
    fn collect(&self, deliver: Deliver) {
        self.0.collect(deliver);
    }
    fn abandon(&self) {
        self.0.abandon();
    }
    fn flush(&self) {
        self.0.flush();
    }
}

#[test]
fn the_last_pass_has_begun_on_the_device_before_the_programs_launch_runs() {
    for passes in [1, 3] {
        let agent = MemoryAgent::builder(0).build();
        let mark = agent.program_allocate(4);
        let counters = Arc::new(Queued(Scripted::new(), agent.clone(), mark));
        let request = Request { names: vec!["a".into(); passes as usize], repeat: 1, dispatches: 1 };
        let limits = Settings { request, ..settings(2) };
        let process = Process::new(limits, Arc::new(EveryKernel), Arc::new(ByPlan), Log::new());
        let engine = Engine::new(agent.clone(), Some(counters), process).unwrap();
        let region = allocate(&agent, &engine, 64);
        let Decision::Window(mut window) = engine.dispatch(&info(1), || Ok(add(region, 1))) else { panic!() };
        window.run_until_last();
        // The program's queue runs at once, whatever waits in the agent's own.
        let copy = Work::new(move |memory| {
            let marked = memory.load(mark);
            memory.store(region.base, marked);
        });
        agent.program_launch(0, &copy);
        agent.program_synchronise();
        assert_eq!(agent.with_memory(|memory| memory.load(region.base)), passes - 1);
        window.close(LastPass::Submitted);
    }
}
