//! What is counted, and what closes a window.

use crate::setup::{Mixed, counted, setup, setup_with};
use crate::support;
use crate::support::{InLine, Odd, add, allocate, info, launch, limits};
use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{Call, MemoryAgent};
use kreplay_engine::{
    BatchLimits, ByPlan, ClosingReason, Counters, Decline, DispatchInfo, Engine, EveryKernel, Member, Operation,
    Outcome, Process, Settings, ShadowMode, Traits, Value, WindowKind, WindowMode,
};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn launches_are_counted_as_they_go_by() {
    let setup = setup(counted(&["a"]));
    let before = setup.word();
    setup.agent.restart_count();
    for key in [1, 2, 3] {
        setup.launch(&info(key));
    }
    assert!(setup.log.take_dispatches().is_empty(), "the window is open");
    setup.engine.close_window();
    let calls = setup.agent.calls();
    assert!(!calls.iter().any(|call| matches!(call, Call::Copy | Call::Compare | Call::Synchronise | Call::Hash)));
    assert_eq!(setup.agent.submissions(), 0, "{calls:?}");
    assert_eq!(setup.word(), before + 3);
    let expected =
        ["open 4000", "begin 0", "before 0", "after 0", "before 1", "after 1", "before 2", "after 2", "end", "collect"];
    assert_eq!(setup.counters.take(), expected);
    let records = setup.log.take_dispatches();
    assert_eq!(records.iter().map(|record| record.kernel.key).collect::<Vec<_>>(), [1, 2, 3]);
    let window = &setup.log.windows()[0];
    assert_eq!((window.kind, window.bytes.footprint, window.bytes.compared), (WindowKind::Batch, 0, 0));
    for (record, (id, readings)) in records.iter().zip(setup.log.readings()) {
        // Exactly as a kernel window of one pass is recorded.
        assert_eq!(record.outcome, Outcome::Counted);
        assert_eq!((record.passes_asked, record.passes_done), (1, 1));
        assert_eq!(
            (record.window, record.divergence.is_none(), record.notes.is_empty()),
            (Some(window.id), true, true)
        );
        assert_eq!((id, readings.len()), (record.id, 1));
        assert_eq!(readings[0].value, Value::Count(record.kernel.key - 1));
    }
}

#[test]
fn it_is_recorded_as_in_a_kernel_window() {
    let record = |window| {
        let setup = setup(Settings { window, ..counted(&["a"]) });
        launch(&setup.engine, &info(1), 0, &add(setup.region, 1));
        setup.finish();
        let record = setup.log.last_dispatch();
        (record.outcome, record.passes_asked, record.passes_done, record.notes, setup.log.readings())
    };
    assert_eq!(record(WindowMode::Kernel), record(WindowMode::Batch));
}

#[test]
fn only_limits_policies_and_the_end_close_it() {
    let setup = setup_with(counted(&["a"]), InLine::default(), Arc::new(Odd), Arc::new(ByPlan));
    let before = setup.word();
    setup.launch(&info(1));
    drop(setup.engine.operation());
    drop(setup.engine.memory_operation(Operation::Other));
    drop(setup.engine.memory_operation(Operation::Reads));
    drop(setup.engine.memory_operation(Operation::Elsewhere));
    drop(
        setup
            .engine
            .memory_operation(Operation::Repeatable { bytes: 0, record: &mut || panic!("nothing is recorded") }),
    );
    let other = allocate(&setup.agent, &setup.engine, 64);
    assert!(setup.engine.hold_free(Box::new(|| panic!("nothing is held back"))).is_err());
    drop(setup.engine.region_retire(other.base).unwrap());
    setup.agent.program_free(other.base);
    setup.engine.code_loaded(3, Vec::new());
    setup.engine.code_unloaded(3);
    setup.engine.release_idle();
    // Not selected: described or not.
    setup.launch(&info(2));
    let guard = setup.engine.pass_by().expect("nothing is to be described");
    setup.agent.program_launch(0, &add(setup.region, 1));
    drop(guard);
    // Not to be replayed, or only alone: neither matters here.
    let collective = DispatchInfo { traits: Traits { collective: true, ..Traits::default() }, ..info(3) };
    setup.launch(&collective);
    setup.launch(&DispatchInfo { traits: Traits { own_window: true, ..Traits::default() }, ..info(5) });
    let unrestorable = Traits { unrestorable: Some(Decline::UntrackedMemory), ..Traits::default() };
    setup.launch(&DispatchInfo { traits: unrestorable, ..info(11) });
    // Several in one submission: no fence fits between them.
    let member = Member { info: info(7), operation: false, record: Box::new(|| panic!("nothing is recorded")) };
    drop(setup.engine.submission(vec![member]));
    assert_eq!(setup.closings(), [], "it is open all the time");
    let graph = DispatchInfo { traits: Traits { decline: Some(Decline::GraphLaunch), ..Traits::default() }, ..info(9) };
    setup.launch(&graph);
    assert_eq!(setup.closings(), [(4, 0, ClosingReason::Launch)]);
    setup.launch(&info(1));
    setup.finish();
    assert_eq!(setup.closings()[1..], [(1, 0, ClosingReason::Exit)]);
    assert_eq!(setup.word(), before + 8);
    let records = setup.log.take_dispatches();
    let outcomes: Vec<_> = records.iter().map(|record| (record.kernel.key, record.outcome.clone())).collect();
    let declined = |reason, detail: &str| Outcome::Declined { reason, detail: detail.into() };
    assert_eq!(
        outcomes,
        [
            (7, declined(Decline::MultiPacket, "")),
            (1, Outcome::Counted),
            (3, Outcome::Counted),
            (5, Outcome::Counted),
            (11, Outcome::Counted),
            (9, declined(Decline::GraphLaunch, "")),
            (1, Outcome::Counted)
        ]
    );
}

#[test]
fn limits_close_it() {
    let lengths = |limits, most| {
        let counters = InLine { most, ..InLine::default() };
        let settings = Settings { batch: limits, ..counted(&["a"]) };
        let setup = setup_with(settings, counters, Arc::new(EveryKernel), Arc::new(ByPlan));
        for _ in 0..5 {
            setup.launch(&info(1));
        }
        setup.finish();
        let opened = setup.counters.take().iter().filter(|call| call.starts_with("open ")).cloned().collect::<Vec<_>>();
        (setup.closings(), opened)
    };
    let (full, exit) = ((2, 0, ClosingReason::Full), (1, 0, ClosingReason::Exit));
    assert_eq!(
        lengths(BatchLimits { dispatches: 2, ..limits() }, None),
        (vec![full, full, exit], vec!["open 2".into(); 3])
    );
    assert_eq!(lengths(limits(), Some(2)), (vec![full, full, exit], vec!["open 2".into(); 3]));
    let time = (1, 0, ClosingReason::Time);
    let (closings, _) = lengths(BatchLimits { time: Duration::ZERO, ..limits() }, None);
    assert_eq!(closings, [time, time, time, time, exit]);
}

#[test]
fn sampled_windows_are_long_from_the_first() {
    let setup = setup(counted(&["a"]));
    for _ in 0..4001 {
        setup.launch(&info(1));
    }
    setup.finish();
    assert_eq!(setup.closings(), [(4000, 0, ClosingReason::Full), (1, 0, ClosingReason::Exit)]);
    let lengths: Vec<u32> =
        setup.counters.take().iter().filter_map(|call| call.strip_prefix("open ")?.parse().ok()).collect();
    // The second follows what the first has cost, which is this machine's affair.
    assert_eq!((lengths.len(), lengths[0]), (2, 4000));
}

#[test]
fn launches_that_are_counted_unasked_take_room() {
    let counters = || InLine { every_launch: true, ..InLine::default() };
    let run = |keys: &[u64], dispatches| {
        let settings = Settings { batch: BatchLimits { dispatches, ..limits() }, ..counted(&["a"]) };
        let setup = setup_with(settings, counters(), Arc::new(Odd), Arc::new(ByPlan));
        let before = setup.word();
        for key in keys {
            setup.launch(&info(*key));
        }
        setup.finish();
        assert_eq!(setup.word(), before + keys.len() as u32);
        setup.closings()
    };
    assert_eq!(run(&[1, 2, 3, 2, 5], 4), [(2, 0, ClosingReason::Full), (1, 0, ClosingReason::Exit)]);
    assert_eq!(run(&[[1].as_slice(), &[2; 20]].concat(), 40), [(1, 0, ClosingReason::Sparse)]);
}

#[test]
fn policies_part_windows() {
    let settings = Settings { window: WindowMode::Batch, ..counted(&["a", "b"]) };
    let setup = setup_with(settings, InLine::default(), Arc::new(EveryKernel), Arc::new(Mixed));
    let before = setup.word();
    for key in [1, 2, 100, 101, 3] {
        launch(&setup.engine, &info(key), 0, &add(setup.region, 1));
    }
    setup.finish();
    assert_eq!(setup.word(), before + 5);
    let closings = setup.closings();
    assert_eq!(closings, [(2, 0, ClosingReason::Policy), (2, 0, ClosingReason::Policy), (1, 0, ClosingReason::Exit)]);
    let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    let (once, replayed) = (Outcome::Counted, Outcome::Replayed);
    assert_eq!(outcomes, [once.clone(), once.clone(), replayed.clone(), replayed, once]);
    // The first pass of the plan is the program's own in either kind.
    assert_eq!(setup.agent.submissions(), 2);
}

#[test]
fn counters_that_need_replays_keep_kernel_windows() {
    let counters = support::Scripted::new();
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let settings = Settings { window: WindowMode::Batch, ..counted(&["a"]) };
    let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), Some(counters as Arc<dyn Counters>), process).unwrap();
    let region = allocate(&agent, &engine, 64);
    assert!(launch(&engine, &info(1), 0, &add(region, 1)).is_some(), "a kernel window");
    assert_eq!(log.windows()[0].kind, WindowKind::Kernel);
}

#[test]
fn a_trusted_shadow_is_stale_afterwards() {
    let settings = Settings { shadow: ShadowMode::Trusted, window: WindowMode::Batch, ..counted(&["a", "b"]) };
    let setup = setup_with(settings, InLine::default(), Arc::new(EveryKernel), Arc::new(Mixed));
    let before = setup.word();
    // The shadow is learnt, and then memory changes in a window that keeps nothing.
    for key in [100, 101, 1, 2, 100, 101, 1, 100] {
        launch(&setup.engine, &info(key), 0, &add(setup.region, 1));
    }
    setup.finish();
    assert_eq!(setup.word(), before + 8);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}
