//! Batch windows of a single pass: the program's own launches are counted, and nothing is kept.

mod support;

use kreplay_engine::conformance::Log;
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{
    BatchLimits, ByPlan, ClosingReason, Counters, Decision, Decline, DispatchInfo, Engine, EveryKernel, Filter,
    KernelInfo, Member, Operation, Outcome, Passes, Plan, Policy, Process, Range, Request, Settings, ShadowMode,
    Traits, Value, WindowKind, WindowMode,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{InLine, add, allocate, info, launch, settings};

/// Kernels with odd keys are selected.
struct Odd;

impl Filter for Odd {
    fn select(&self, kernel: &KernelInfo) -> bool {
        kernel.key % 2 == 1
    }
}

/// Kernels from 100 on run by the plan, the others once.
struct Mixed;

impl Policy for Mixed {
    fn passes(&self, dispatch: &DispatchInfo, plan: &Plan) -> Passes {
        if dispatch.kernel.key >= 100 { Passes::Exactly(plan.passes.len() as u32) } else { Passes::Once }
    }
}

struct Setup {
    agent: Arc<MemoryAgent>,
    counters: Arc<InLine>,
    engine: Arc<Engine<MemoryAgent>>,
    log: Arc<Log>,
    region: Range,
}

fn counted(names: &[&str]) -> Settings {
    let request = Request { names: names.iter().map(|name| (*name).into()).collect(), repeat: 1, dispatches: 0 };
    Settings { request, window: WindowMode::Auto, ..settings(1) }
}

fn setup_with(settings: Settings, counters: InLine, filter: Arc<dyn Filter>, policy: Arc<dyn Policy>) -> Setup {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let counters = Arc::new(counters);
    let process = Process::new(settings, filter, policy, log.clone());
    let engine = Engine::new(agent.clone(), Some(counters.clone() as Arc<dyn Counters>), process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    counters.take();
    Setup { agent, counters, engine, log, region }
}

fn setup(settings: Settings) -> Setup {
    setup_with(settings, InLine::default(), Arc::new(EveryKernel), Arc::new(ByPlan))
}

impl Setup {
    fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    fn launch(&self, info: &DispatchInfo) {
        // What would run it again is never asked for.
        let decision = self.engine.dispatch(info, || panic!("nothing is recorded"));
        let (Decision::Run(guard) | Decision::Recorded(guard)) = decision else { panic!("it has a window of its own") };
        self.agent.program_launch(0, &add(self.region, 1));
        drop(guard);
    }

    fn closings(&self) -> Vec<(u32, u32, ClosingReason)> {
        self.log.windows().iter().map(|window| (window.dispatches, window.operations, window.closing)).collect()
    }

    fn finish(&self) {
        self.engine.finish(Instant::now() + Duration::from_secs(20));
    }
}

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
        ["open 50", "begin 0", "before 0", "after 0", "before 1", "after 1", "before 2", "after 2", "end", "collect"];
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
    drop(setup.engine.memory_operation(Operation::Repeatable(&mut || panic!("nothing is recorded"))));
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
    // Several in one submission: no fence fits between them.
    let member = Member { info: info(7), record: Box::new(|| panic!("nothing is recorded")) };
    drop(setup.engine.submission(vec![member]));
    assert_eq!(setup.closings(), [], "it is open all the time");
    let graph = DispatchInfo { traits: Traits { decline: Some(Decline::GraphLaunch), ..Traits::default() }, ..info(9) };
    setup.launch(&graph);
    assert_eq!(setup.closings(), [(3, 0, ClosingReason::Unrecordable)]);
    setup.launch(&info(1));
    setup.finish();
    assert_eq!(setup.closings()[1..], [(1, 0, ClosingReason::Exit)]);
    assert_eq!(setup.word(), before + 7);
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
            (9, declined(Decline::GraphLaunch, "")),
            (1, Outcome::Counted)
        ]
    );
}

#[test]
fn limits_close_it() {
    let limits = BatchLimits::default();
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
        lengths(BatchLimits { dispatches: 2, ..limits }, None),
        (vec![full, full, exit], vec!["open 2".into(); 3])
    );
    assert_eq!(lengths(limits, Some(2)), (vec![full, full, exit], vec!["open 2".into(); 3]));
    let time = (1, 0, ClosingReason::Time);
    let (closings, _) = lengths(BatchLimits { time: Duration::ZERO, ..limits }, None);
    assert_eq!(closings, [time, time, time, time, exit]);
}

#[test]
fn windows_get_longer_where_switching_is_dear() {
    let counters = InLine { switch: Duration::from_millis(200), ..InLine::default() };
    let setup = setup_with(counted(&["a"]), counters, Arc::new(EveryKernel), Arc::new(ByPlan));
    for _ in 0..51 {
        setup.launch(&info(1));
    }
    setup.finish();
    assert_eq!(setup.closings(), [(50, 0, ClosingReason::Full), (1, 0, ClosingReason::Exit)]);
    let lengths: Vec<u32> =
        setup.counters.take().iter().filter_map(|call| call.strip_prefix("open ")?.parse().ok()).collect();
    assert!(lengths[0] == 50 && lengths[1] > 50, "{lengths:?}");
}

#[test]
fn launches_that_are_counted_unasked_take_room() {
    let counters = || InLine { every_launch: true, ..InLine::default() };
    let run = |keys: &[u64], dispatches| {
        let settings = Settings { batch: BatchLimits { dispatches, ..BatchLimits::default() }, ..counted(&["a"]) };
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
fn no_fence_holds_what_another_thread_submits() {
    // In line, and where pass 0 of a window that records is counted.
    for (names, outcome) in [(["a"].as_slice(), Outcome::Counted), (&["a", "b"], Outcome::Replayed)] {
        threads_keep_out_of_fences(names, &outcome);
    }
}

fn threads_keep_out_of_fences(names: &[&str], outcome: &Outcome) {
    let settings = Settings { window: WindowMode::Batch, ..counted(names) };
    let setup = Arc::new(setup_with(settings, InLine::default(), Arc::new(Odd), Arc::new(ByPlan)));
    let before = setup.word();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let setup = &setup;
            scope.spawn(move || {
                let apart = || assert!(!setup.counters.fenced.load(Ordering::SeqCst), "within a fence");
                for round in 0..200 {
                    match (thread + round) % 4 {
                        0 => drop(launch(&setup.engine, &info(1), 0, &add(setup.region, 1))),
                        1 => drop(launch(&setup.engine, &info(2), 0, &add(setup.region, 1))),
                        2 => {
                            let guard = setup.engine.memory_operation(Operation::Reads);
                            apart();
                            drop(guard);
                        }
                        _ => {
                            let guard = setup.engine.operation();
                            apart();
                            drop(guard);
                        }
                    }
                    if round % 64 == 63 {
                        setup.engine.close_window();
                    }
                }
            });
        }
    });
    setup.finish();
    assert_eq!(setup.word(), before + 400);
    let records = setup.log.take_dispatches();
    assert_eq!(records.len(), 200);
    assert!(records.iter().all(|record| record.outcome == *outcome && record.divergence.is_none()));
    let readings = setup.log.readings();
    assert_eq!((readings.len(), readings.iter().all(|(_, values)| !values.is_empty())), (200, true));
}

#[test]
fn what_another_thread_submits_waits_for_the_end_of_a_fence() {
    for names in [["a"].as_slice(), &["a", "b"]] {
        for operation in 0..4 {
            let settings = Settings { window: WindowMode::Batch, ..counted(names) };
            let setup = setup_with(settings, InLine::default(), Arc::new(Odd), Arc::new(ByPlan));
            let work = add(setup.region, 1);
            let Decision::Recorded(guard) = setup.engine.dispatch(&info(1), || Ok(work.clone())) else {
                panic!("it is not counted");
            };
            let (fenced, submitted) = (AtomicBool::new(true), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let guard = match operation {
                        0 => Some(setup.engine.memory_operation(Operation::Reads)),
                        1 => Some(
                            setup.engine.memory_operation(Operation::Repeatable(&mut || Some(add(setup.region, 0)))),
                        ),
                        2 => {
                            drop(launch(&setup.engine, &info(2), 0, &work));
                            None
                        }
                        // No business of this agent's.
                        _ => Some(setup.engine.memory_operation(Operation::Elsewhere)),
                    };
                    let within = fenced.load(Ordering::SeqCst);
                    submitted.store(true, Ordering::SeqCst);
                    assert_eq!(within, operation == 3, "operation {operation} with {names:?}");
                    drop(guard);
                });
                // Time to be wrong in; the operation that need not wait is waited for.
                let start = Instant::now();
                while !submitted.load(Ordering::SeqCst)
                    && (operation == 3 || start.elapsed() < Duration::from_millis(30))
                {
                    std::thread::yield_now();
                }
                setup.agent.program_launch(0, &work);
                fenced.store(false, Ordering::SeqCst);
                drop(guard);
            });
            setup.finish();
        }
    }
}

#[test]
fn a_kernel_whose_fence_waited_in_vain_is_not_counted_again() {
    let settings = Settings { pass_deadline: Duration::from_millis(50), ..counted(&["a"]) };
    for (wait, counted_again) in [(Duration::from_millis(60), false), (Duration::ZERO, true)] {
        let counters = InLine { wait, ..InLine::default() };
        *counters.failing.lock().unwrap() = Some("after 0");
        let setup = setup_with(settings.clone(), counters, Arc::new(EveryKernel), Arc::new(ByPlan));
        for key in [1, 2, 1] {
            setup.launch(&info(key));
        }
        setup.finish();
        let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
        assert_eq!(outcomes[..2], [Outcome::Counted, Outcome::Counted], "the launch itself went by");
        let declined = matches!(outcomes[2], Outcome::Declined { reason: Decline::PassFailed, .. });
        assert_eq!(declined, !counted_again, "{outcomes:?}");
    }
}

#[test]
fn what_the_counters_cannot_do_costs_values_only() {
    for (failing, note, values) in [
        ("begin", "ran uncounted", 0),
        ("before 1", "values of a pass are lost", 0),
        ("after 0", "values of a pass are lost", 0),
        ("end", "values of a pass are lost", 0),
    ] {
        let setup = setup(counted(&["a"]));
        let before = setup.word();
        *setup.counters.failing.lock().unwrap() = Some(failing);
        for key in [1, 2] {
            setup.launch(&info(key));
        }
        setup.finish();
        assert_eq!(setup.word(), before + 2, "{failing}");
        let records = setup.log.take_dispatches();
        assert_eq!(records.len(), 2);
        for record in records {
            assert_eq!(record.outcome, Outcome::Counted, "{failing}");
            assert!(record.notes.iter().any(|text| text.contains(note)), "{failing}: {:?}", record.notes);
        }
        assert_eq!(setup.log.readings().iter().map(|(_, readings)| readings.len()).sum::<usize>(), values, "{failing}");
        assert_eq!(setup.counters.take().last().map(String::as_str), Some("abandon"), "{failing}");
    }
    let setup = setup(counted(&["a"]));
    let before = setup.word();
    *setup.counters.failing.lock().unwrap() = Some("open");
    setup.launch(&info(1));
    assert_eq!(setup.word(), before + 1);
    let reason = Decline::CountersUnavailable;
    assert!(matches!(setup.log.last_dispatch().outcome, Outcome::Declined { reason: found, .. } if found == reason));
}

#[test]
fn an_agent_that_does_not_become_idle_declines() {
    // When it opens: the launch runs as it is. When it closes: it has run, and its values are lost.
    for (launches, fault) in [(0, Fault::Fails), (0, Fault::Lost), (2, Fault::Denied), (2, Fault::Lost)] {
        let setup = setup(counted(&["a"]));
        let before = setup.word();
        for _ in 0..launches {
            setup.launch(&info(1));
        }
        setup.agent.fail_every(Some((Call::Drain, fault)));
        if launches == 0 {
            setup.launch(&info(1));
        }
        setup.engine.close_window();
        setup.agent.fail_every(None);
        let records = setup.log.take_dispatches();
        assert_eq!(records.len(), launches.max(1));
        let declined = |outcome: &Outcome| matches!(outcome, Outcome::Declined { .. });
        assert!(records.iter().all(|record| declined(&record.outcome)), "{records:?}");
        assert!(setup.log.readings().is_empty());
        assert_eq!(setup.word(), before + launches.max(1) as u32);
    }
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
