//! Policy and counters: who is asked what, in which order, and what a failure of theirs costs.

mod support;

use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{
    ByPlan, Decision, Decline, Engine, EveryKernel, LastPass, Outcome, Passes, PlanError, Policy, Process, Range,
    Request, Settings, Traits,
};
use std::sync::Arc;
use std::time::Instant;
use support::{Scripted, Told, add, allocate, info, launch, settings};

struct Bench {
    agent: Arc<MemoryAgent>,
    engine: Arc<Engine<MemoryAgent>>,
    counters: Arc<Scripted>,
    log: Arc<Log>,
    region: Range,
}

/// An engine whose plan has a pass for each name.
fn bench(names: &[&str], policy: Arc<dyn Policy>, counters: Arc<Scripted>) -> Bench {
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
    fn launch(&self) -> u32 {
        let before = self.word();
        launch(&self.engine, &info(1), 0, &add(self.region, 1));
        self.word().wrapping_sub(before)
    }
}

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
fn one_pass_is_counted_once() {
    for passes in [Passes::Once, Passes::Exactly(0), Passes::Exactly(1), Passes::Until { bound: 1 }] {
        let policy = Arc::new(Told::new(passes));
        let bench = bench(&["a", "b"], policy.clone(), Scripted::new());
        assert_eq!(bench.launch(), 1);
        let record = bench.log.last_dispatch();
        assert_eq!((record.outcome, record.passes_asked, record.passes_done), (Outcome::Counted, 1, 1));
        assert_eq!(bench.counters.take(), ["open 1", "begin 0", "before 0", "after 0", "end", "collect"]);
        assert_eq!(*policy.log.lock().unwrap(), ["passes", "ended 1"]);
        assert_eq!(bench.agent.usage().allocations, 0, "nothing is snapshotted");
    }
}

#[test]
fn an_early_stop_still_runs_the_programs_own_pass() {
    let mut policy = Told::new(Passes::Until { bound: 9 });
    policy.stop_after = Some(1);
    let policy = Arc::new(policy);
    let bench = bench(&["a", "b", "c", "d"], policy.clone(), Scripted::new());
    assert_eq!(bench.launch(), 1);
    let record = bench.log.last_dispatch();
    assert_eq!((record.outcome, record.passes_asked, record.passes_done), (Outcome::Replayed, 9, 3));
    assert_eq!(*policy.log.lock().unwrap(), ["passes", "proceed 0", "proceed 1", "ended 3"]);
    let begun: Vec<_> = bench.counters.take().into_iter().filter(|call| call.starts_with("begin")).collect();
    assert_eq!(begun, ["begin 0", "begin 1", "begin 2"]);
}

#[test]
fn the_policy_is_asked_after_every_pass_but_the_last() {
    let policy = Arc::new(Told::new(Passes::Until { bound: 4 }));
    let bench = bench(&["a"], policy.clone(), Scripted::new());
    assert_eq!(bench.launch(), 1);
    assert_eq!(*policy.log.lock().unwrap(), ["passes", "proceed 0", "proceed 1", "proceed 2", "ended 4"]);
    let record = bench.log.last_dispatch();
    let uncounted = record.notes.iter().filter(|note| note.contains("ran uncounted")).count();
    assert_eq!(uncounted, 3, "the plan has one pass: {:?}", record.notes);
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
fn counters_that_cannot_open_decline() {
    let bench = bench(&["a", "b"], Arc::new(ByPlan), Scripted::new());
    bench.counters.fail(&["open"]);
    assert_eq!(bench.launch(), 1);
    let record = bench.log.last_dispatch();
    assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::CountersUnavailable, .. }));
    assert_eq!(bench.counters.take(), ["open 1"], "nothing is open, so nothing is abandoned");
    bench.counters.fail(&[]);
    assert_eq!(bench.launch(), 1);
    assert_eq!(bench.log.last_dispatch().outcome, Outcome::Replayed);
    assert_eq!(bench.log.warnings(), ["counters_unavailable"]);
}

#[test]
fn a_failure_of_the_counters_costs_values_and_nothing_else() {
    for (failing, collects) in [
        (vec!["begin 1"], true),
        (vec!["begin"], false),
        (vec!["before"], false),
        (vec!["after"], false),
        (vec!["end"], false),
    ] {
        let bench = bench(&["a", "b", "c"], Arc::new(ByPlan), Scripted::new());
        bench.counters.fail(&failing);
        assert_eq!(bench.launch(), 1, "{failing:?}");
        let record = bench.log.last_dispatch();
        assert_eq!((record.outcome, record.passes_done), (Outcome::Replayed, 3), "{failing:?}");
        assert!(!record.notes.is_empty(), "{failing:?}");
        let calls = bench.counters.take();
        assert_eq!(calls.last().unwrap(), if collects { "collect" } else { "abandon" }, "{failing:?}: {calls:?}");
        let begun = calls.iter().filter(|call| call.starts_with("begin")).count();
        let ended = calls.iter().filter(|call| *call == "end").count();
        let failed = if failing[0].starts_with("begin") { if collects { 1 } else { 3 } } else { 0 };
        assert_eq!(ended, begun - failed, "{failing:?}: every pass that began ends");
    }
}

#[test]
fn a_window_that_fails_abandons_its_counters() {
    use kreplay_engine::memory_agent::{Call, Fault};
    let bench = bench(&["a", "b"], Arc::new(ByPlan), Scripted::new());
    bench.agent.fail_every(Some((Call::Submit, Fault::Fails)));
    assert_eq!(bench.launch(), 1);
    bench.agent.fail_every(None);
    assert!(matches!(bench.log.last_dispatch().outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
    let calls = bench.counters.take();
    assert_eq!(calls.iter().filter(|call| *call == "abandon").count(), 1, "{calls:?}");
    assert!(!calls.contains(&"collect".to_owned()));
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

/// Launches from within the window, as a tool's callback may.
struct Nested {
    engine: std::sync::Mutex<Option<Arc<Engine<MemoryAgent>>>>,
    at: Range,
}

impl Policy for Nested {
    fn proceed(&self, _: &kreplay_engine::DispatchInfo, _: kreplay_engine::PassEnd) -> bool {
        let engine = self.engine.lock().unwrap().clone().unwrap();
        let nested = launch(&engine, &info(2), 5, &add(self.at, 10));
        assert!(nested.is_none(), "no window inside a window of the same thread");
        drop(engine.operation());
        true
    }
}

#[test]
fn a_launch_from_within_a_window_declines_as_reentrant() {
    let agent = MemoryAgent::builder(0).build();
    let at = Range::new(agent.program_allocate(64), 64);
    support::fill(&agent, at);
    let policy = Arc::new(Nested { engine: std::sync::Mutex::new(None), at });
    let log = Log::new();
    let process = Process::new(settings(3), Arc::new(EveryKernel), policy.clone(), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    *policy.engine.lock().unwrap() = Some(engine.clone());
    let region = allocate(&agent, &engine, 4096);
    let before = agent.with_memory(|memory| memory.load(at.base));
    launch(&engine, &info(1), 0, &add(region, 1)).unwrap();
    let records = log.take_dispatches();
    let outcomes: Vec<_> = records.iter().map(|record| (record.kernel.key, record.outcome.clone())).collect();
    let reentrant = Outcome::Declined { reason: Decline::Reentrant, detail: String::new() };
    assert_eq!(outcomes, [(2, reentrant.clone()), (2, reentrant), (1, Outcome::Replayed)]);
    agent.program_synchronise();
    assert_eq!(agent.with_memory(|memory| memory.load(at.base)), before + 20, "each ran once");
    // Nor inside a hold of the same thread: a copy that the runtime does with a kernel.
    let hold = engine.operation();
    assert!(launch(&engine, &info(2), 5, &add(at, 10)).is_none());
    drop(hold);
    assert!(launch(&engine, &info(1), 0, &add(region, 1)).is_some());
    *policy.engine.lock().unwrap() = None;
}

#[test]
fn what_the_interceptor_knows_to_be_unfit_declines_before_anything_is_asked() {
    let policy = Arc::new(Told::new(Passes::Exactly(2)));
    let bench = bench(&["a"], policy.clone(), Scripted::new());
    for reason in [Decline::StreamCapture, Decline::GraphLaunch, Decline::MultiPacket] {
        let special =
            kreplay_engine::DispatchInfo { traits: Traits { decline: Some(reason), ..Traits::default() }, ..info(1) };
        assert!(matches!(bench.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
        assert!(matches!(bench.log.last_dispatch().outcome, Outcome::Declined { reason: why, .. } if why == reason));
    }
    assert_eq!(*policy.log.lock().unwrap(), ["ended 0"; 3], "the policy is told, not asked");
    assert!(bench.counters.take().is_empty());
    // A collective may be counted once, but not run twice, nor what writes what cannot be put back; an interceptor may find out only when it records.
    for traits in [
        Traits { collective: true, ..Traits::default() },
        Traits { unrestorable: Some(Decline::UntrackedMemory), ..Traits::default() },
    ] {
        let special = kreplay_engine::DispatchInfo { traits, ..info(1) };
        assert!(matches!(bench.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    }
    assert!(matches!(bench.engine.dispatch(&info(1), || Err(Decline::UnknownArguments)), Decision::Run(_)));
    let record = bench.log.last_dispatch();
    assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::UnknownArguments, .. }));
    assert_eq!(bench.log.warnings().len(), 6, "once a reason");
    let Decision::Window(window) = bench.engine.dispatch(&info(1), || Ok(add(bench.region, 0))) else { panic!() };
    window.close(LastPass::Failed("the gate is free".into()));
}

/// Counters that begin a pass by work on the agent's queue, as real ones do.
struct Queued(Arc<Scripted>, Arc<MemoryAgent>, u64);

impl kreplay_engine::Counters for Queued {
    fn list(&self) -> Vec<kreplay_engine::CounterInfo> {
        self.0.list()
    }
    fn plan(&self, request: &Request) -> Result<kreplay_engine::Plan, PlanError> {
        self.0.plan(request)
    }
    fn open(&self, plan: &kreplay_engine::Plan, dispatches: u32) -> Result<(), kreplay_engine::CountersError> {
        self.0.open(plan, dispatches)
    }
    fn begin(&self, pass: &kreplay_engine::PlannedPass) -> Result<(), kreplay_engine::CountersError> {
        let (at, index) = (self.2, pass.index);
        let mark = kreplay_engine::memory_agent::Work::new(move |memory| memory.store(at, index));
        kreplay_engine::Agent::submit(&*self.1, &mark).unwrap();
        self.0.begin(pass)
    }
    fn before(&self, index: u32) -> Result<(), kreplay_engine::CountersError> {
        self.0.before(index)
    }
    fn after(&self, index: u32) -> Result<(), kreplay_engine::CountersError> {
        self.0.after(index)
    }
    fn end(&self) -> Result<(), kreplay_engine::CountersError> {
        self.0.end()
    }
    fn collect(&self, deliver: kreplay_engine::Deliver) {
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
        let copy = kreplay_engine::memory_agent::Work::new(move |memory| {
            let marked = memory.load(mark);
            memory.store(region.base, marked);
        });
        agent.program_launch(0, &copy);
        agent.program_synchronise();
        assert_eq!(agent.with_memory(|memory| memory.load(region.base)), passes - 1);
        window.close(LastPass::Submitted);
    }
}
