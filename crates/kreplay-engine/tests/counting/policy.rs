//! The policy: what it is asked, and launches about which nobody asks it.

use crate::setup::bench;
use crate::support::{Scripted, Told, add, allocate, fill, info, launch, settings};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::MemoryAgent;
use kreplay_engine::{
    Decision, Decline, DispatchInfo, Engine, EveryKernel, LastPass, Outcome, PassEnd, Passes, Policy, Process, Range,
    Traits,
};
use std::sync::{Arc, Mutex};

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

/// Launches from within the window, as a tool's callback may.
struct Nested {
    engine: Mutex<Option<Arc<Engine<MemoryAgent>>>>,
    at: Range,
}

impl Policy for Nested {
    fn proceed(&self, _: &DispatchInfo, _: PassEnd) -> bool {
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
    fill(&agent, at);
    let policy = Arc::new(Nested { engine: Mutex::new(None), at });
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
        let special = DispatchInfo { traits: Traits { decline: Some(reason), ..Traits::default() }, ..info(1) };
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
        let special = DispatchInfo { traits, ..info(1) };
        assert!(matches!(bench.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    }
    assert!(matches!(bench.engine.dispatch(&info(1), || Err(Decline::UnknownArguments)), Decision::Run(_)));
    let record = bench.log.last_dispatch();
    assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::UnknownArguments, .. }));
    assert_eq!(bench.log.warnings().len(), 6, "once a reason");
    let Decision::Window(window) = bench.engine.dispatch(&info(1), || Ok(add(bench.region, 0))) else { panic!() };
    window.close(LastPass::Failed("the gate is free".into()));
}
