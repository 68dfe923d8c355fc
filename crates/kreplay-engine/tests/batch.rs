//! Batch windows: what goes in, what closes them, who counts, and failure at every step.

mod support;

use kreplay_engine::conformance::{Kernel, Log, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Fault, MemoryAgent, Work};
use kreplay_engine::{
    BatchLimits, ByPlan, Chunk, ClosingReason, Decision, Decline, Engine, EveryKernel, Filter, KernelInfo, Member,
    Operation, Outcome, Process, Range, Region, RegionKind, Request, Settings, ShadowMode, Traits, VerifyMode,
    WindowMode, Writers,
};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Odd, Scripted, add, allocate, info, launch, settings};

fn batch(passes: u32) -> Settings {
    Settings { window: WindowMode::Batch, ..settings(passes) }
}

struct Setup {
    agent: Arc<MemoryAgent>,
    engine: Arc<Engine<MemoryAgent>>,
    log: Arc<Log>,
    region: Range,
}

fn setup(settings: Settings, counters: Option<Arc<Scripted>>) -> Setup {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let process = Process::new(settings, Arc::new(Odd), Arc::new(ByPlan), log.clone());
    let counters = counters.map(|counters| counters as Arc<dyn kreplay_engine::Counters>);
    let engine = Engine::new(agent.clone(), counters, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    Setup { agent, engine, log, region }
}

impl Setup {
    fn word(&self) -> u32 {
        self.agent.program_synchronise();
        self.agent.with_memory(|memory| memory.load(self.region.base))
    }

    fn launch(&self, key: u64) {
        launch(&self.engine, &info(key), 0, &add(self.region, 1));
    }

    fn closings(&self) -> Vec<(u32, u32, ClosingReason)> {
        self.log.windows().iter().map(|window| (window.dispatches, window.operations, window.closing)).collect()
    }
}

#[test]
fn dispatches_that_are_not_selected_are_recorded_but_not_counted() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    for key in [1, 2, 3, 4, 5] {
        setup.launch(key);
    }
    assert!(setup.log.take_dispatches().is_empty(), "the window still records");
    setup.engine.close_window();
    assert_eq!(setup.word(), before + 5);
    assert_eq!(setup.closings(), [(3, 2, ClosingReason::Unrecordable)]);
    assert_eq!(setup.agent.submissions(), 2 * 5, "two replays of the whole list");
    assert_eq!(setup.log.not_selected(), 2);
    let keys: Vec<u64> = setup.log.take_dispatches().iter().map(|record| record.kernel.key).collect();
    assert_eq!(keys, [1, 3, 5]);
}

#[test]
fn what_is_not_selected_is_described_only_while_a_window_records() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    let kernel = info(2).kernel;
    let unselected = || {
        assert!(setup.engine.select(&kernel).is_none());
        match setup.engine.pass_by() {
            Some(guard) => {
                setup.agent.program_launch(0, &add(setup.region, 1));
                drop(guard);
                false
            }
            None => {
                let work = add(setup.region, 1);
                let decision = setup.engine.dispatch_unselected(&info(2), || Ok(work.clone()));
                assert!(matches!(decision, Decision::Recorded(_)));
                setup.agent.program_launch(0, &work);
                true
            }
        }
    };
    assert!(!unselected());
    setup.launch(1);
    assert!(unselected() && unselected());
    setup.engine.close_window();
    assert!(!unselected());
    assert_eq!(setup.closings(), [(1, 2, ClosingReason::Unrecordable)]);
    assert_eq!(setup.log.take_dispatches()[0].outcome, Outcome::Replayed);
    assert_eq!((setup.word(), setup.log.not_selected()), (before + 5, 4));
}

#[test]
fn launches_that_are_counted_unasked_take_room_and_end_a_window_when_many_follow() {
    let limits = BatchLimits { dispatches: 20, ..BatchLimits::default() };
    for (every_launch, keys, expected) in [
        // Ten of each kind fill it; what follows goes into the next.
        (true, [1, 2].repeat(12), vec![(10, 10, ClosingReason::Full), (2, 2, ClosingReason::Unrecordable)]),
        (false, [1, 2].repeat(12), vec![(12, 12, ClosingReason::Unrecordable)]),
        // The seventeenth in a row does not go in any more, and none opens one.
        (true, [vec![1], vec![2; 19]].concat(), vec![(1, 16, ClosingReason::Sparse)]),
        (false, [vec![1], vec![2; 19]].concat(), vec![(1, 19, ClosingReason::Unrecordable)]),
        // A selected one in time lets it go on.
        (true, [vec![1], vec![2; 16], vec![1]].concat(), vec![(2, 16, ClosingReason::Unrecordable)]),
    ] {
        let counters = if every_launch { Scripted::every_launch() } else { Scripted::new() };
        let request = Request { names: vec!["waves".into(), "other".into()], ..Request::default() };
        let setup = setup(Settings { batch: limits, request, ..batch(2) }, Some(counters));
        let before = setup.word();
        for key in &keys {
            setup.launch(*key);
        }
        setup.engine.close_window();
        assert_eq!(setup.closings(), expected, "{every_launch} {keys:?}");
        assert_eq!(setup.word(), before + keys.len() as u32);
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{records:?}");
    }
}

#[test]
fn a_trusted_shadow_is_stale_after_a_launch_that_was_passed_by() {
    let setup = setup(Settings { shadow: ShadowMode::Trusted, ..settings(3) }, None);
    let before = setup.word();
    // The first windows are audits, and one that is surprised ends the trust.
    for _ in 0..10 {
        setup.launch(1);
    }
    let guard = setup.engine.pass_by().expect("no window records");
    setup.agent.program_launch(0, &add(setup.region, 100));
    drop(guard);
    setup.launch(1);
    assert_eq!(setup.word(), before + 111);
}

#[test]
fn every_limit_closes_a_window() {
    let limits = BatchLimits::default();
    for (limits, reason) in [
        (BatchLimits { dispatches: 2, ..limits }, ClosingReason::Full),
        (BatchLimits { entries: 2, ..limits }, ClosingReason::Full),
        (BatchLimits { time: Duration::ZERO, ..limits }, ClosingReason::Time),
        (BatchLimits { bytes: 0, ..limits }, ClosingReason::Bytes),
    ] {
        // With no bytes or no time a window takes one entry.
        let setup = setup(Settings { batch: limits, ..batch(2) }, None);
        let before = setup.word();
        for _ in 0..5 {
            setup.launch(1);
        }
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.word(), before + 5);
        assert!(setup.closings().iter().any(|closing| closing.2 == reason), "{reason:?}: {:?}", setup.closings());
        let records = setup.log.take_dispatches();
        assert_eq!(records.len(), 5);
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{reason:?}: {records:?}");
    }
}

#[test]
fn what_cannot_be_recorded_closes_the_window_before_it_runs() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    // An operation that nobody describes, a free, a code unload, a launch that declines, a recording that fails.
    setup.launch(1);
    drop(setup.engine.operation());
    setup.launch(1);
    let other = allocate(&setup.agent, &setup.engine, 64);
    drop(setup.engine.region_retire(other.base).unwrap());
    setup.launch(1);
    setup.engine.code_unloaded(3);
    setup.launch(1);
    let special = kreplay_engine::DispatchInfo {
        traits: Traits { decline: Some(Decline::GraphLaunch), ..Traits::default() },
        ..info(1)
    };
    assert!(matches!(setup.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    setup.launch(1);
    assert!(matches!(setup.engine.dispatch(&info(1), || Err(Decline::UnknownArguments)), Decision::Run(_)));
    setup.launch(1);
    // Not selected, and not to be replayed.
    let special = kreplay_engine::DispatchInfo { traits: Traits { collective: true, ..Traits::default() }, ..info(2) };
    assert!(matches!(setup.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Unrecordable); 6]);
    // Reading closes nothing; a repeatable operation is recorded; one that turns out not to be is not.
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Reads));
    let work = add(setup.region, 0);
    drop(setup.engine.memory_operation(Operation::Repeatable(&mut || Some(work.clone()))));
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Repeatable(&mut || None)));
    assert_eq!(setup.closings()[6..], [(2, 1, ClosingReason::Unrecordable)]);
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.closings().last(), Some(&(1, 0, ClosingReason::Exit)));
    assert_eq!(setup.word(), before + 9);
    assert_eq!((setup.agent.usage().device, setup.agent.usage().host), (0, 0));
}

#[test]
fn a_free_is_held_back_until_the_window_is_over() {
    let setup = setup(batch(3), None);
    let other = allocate(&setup.agent, &setup.engine, 4096);
    let free = |setup: &Setup| {
        let (agent, engine) = (setup.agent.clone(), setup.engine.clone());
        Box::new(move || {
            let retired = engine.region_retire(other.base).expect("it is known until now");
            agent.program_free(other.base);
            drop(retired);
        })
    };
    assert!(setup.engine.hold_free(free(&setup)).is_err(), "no window is open: the caller frees at once");
    setup.launch(1);
    launch(&setup.engine, &info(3), 0, &add(other, 1));
    assert!(setup.engine.hold_free(free(&setup)).is_ok());
    setup.launch(1);
    setup.engine.close_window();
    assert!(setup.engine.region_retire(other.base).is_none(), "it was freed at the end");
    assert_eq!(setup.closings(), [(3, 0, ClosingReason::Unrecordable)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.outcome == Outcome::Replayed));
}

#[test]
fn counters_that_need_fences_count_replays_only() {
    let counters = Scripted::new();
    let request = Request { names: vec!["a".into(), "b".into()], repeat: 1, dispatches: 1 };
    let setup = setup(Settings { request, ..batch(9) }, Some(counters.clone()));
    let before = setup.word();
    for key in [1, 2, 3] {
        setup.launch(key);
    }
    setup.engine.close_window();
    assert_eq!(setup.word(), before + 3);
    let pass = |index: u32| {
        let mut calls = vec![format!("begin {index}")];
        for dispatch in 0..2 {
            calls.extend([format!("before {dispatch}"), format!("after {dispatch}")]);
        }
        calls.push("end".into());
        calls
    };
    let mut expected = vec!["open 50".to_owned()];
    expected.extend(pass(0));
    expected.extend(pass(1));
    expected.push("collect".into());
    assert_eq!(counters.take(), expected);
    assert_eq!(setup.agent.submissions(), 2 * 3, "pass 0 is the program's; both passes of the plan are replays");
    let record = setup.log.last_dispatch();
    assert_eq!((record.passes_asked, record.passes_done), (2, 2));
    assert_eq!(setup.log.readings().len(), 2);
}

#[test]
fn threads_share_a_window() {
    for verify in [VerifyMode::Outputs, VerifyMode::All] {
        let limits = BatchLimits { dispatches: 16, ..BatchLimits::default() };
        let agent = MemoryAgent::builder(0).build();
        let log = Log::new();
        let settings = Settings { verify, batch: limits, ..batch(3) };
        let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
        let engine = Engine::new(agent.clone(), None, process).unwrap();
        let regions: Vec<Range> = (0..4)
            .map(|_| {
                let own = Range::new(agent.program_allocate(1024), 1024);
                agent.with_memory(|memory| memory.bytes_mut(own).fill(0));
                engine.region_born(Region { range: own, kind: RegionKind::Device, writers: Writers::Seen });
                own
            })
            .collect();
        std::thread::scope(|scope| {
            for (thread, own) in (0..).zip(regions) {
                let (agent, engine) = (&agent, &engine);
                scope.spawn(move || {
                    let mut expected = 0u32;
                    for round in 0..100 {
                        let kernel = Work::new(move |memory| {
                            for address in (own.base..own.end()).step_by(4) {
                                let value = memory.load(address).wrapping_mul(3).wrapping_add(1);
                                memory.store(address, value);
                            }
                        });
                        launch(engine, &info(thread), 0, &kernel);
                        expected = expected.wrapping_mul(3).wrapping_add(1);
                        if round % 40 == 9 {
                            drop(engine.operation());
                        }
                    }
                    agent.program_synchronise();
                    assert_eq!(agent.with_memory(|memory| memory.load(own.base + 512)), expected);
                });
            }
        });
        engine.finish(Instant::now() + Duration::from_secs(20));
        let records = log.take_dispatches();
        assert_eq!(records.len(), 400);
        let odd = records.iter().find(|r| r.outcome != Outcome::Replayed || r.divergence.is_some());
        assert!(odd.is_none(), "{odd:?}");
        assert!(log.windows().iter().any(|window| window.dispatches == 16));
        assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
    }
}

/// A window of launches and operations with a fault at call `number` counted from its opening.
fn faulty(settings: &Settings, number: u64, fault: Fault) -> (bool, Vec<Outcome>) {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, settings.clone());
    let (a, b) = (world.allocate(900), world.allocate(512));
    world.launch(&Kernel::Add { at: b, value: 1 });
    world.close_window();
    world.log.take_dispatches();
    agent.fail_at(number, fault);
    world.launch(&Kernel::Add { at: a, value: 3 });
    world.operate(&Kernel::Fill { to: Range::new(b.base, 64), value: 9 });
    let c = world.allocate(300);
    world.launch(&Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base });
    world.launch(&Kernel::Add { at: c, value: 1 });
    world.close_window();
    let calls = agent.calls();
    let reached = calls.len() as u64 > number;
    agent.restart_count();
    let outcomes: Vec<Outcome> = world.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes.len(), 3);
    if !(reached && fault == Fault::Lost) {
        world.check(&format!("{fault:?} at call {number} of {calls:?} with {settings:?}: {outcomes:?}"));
        world.launch(&Kernel::Add { at: b, value: 1 });
        world.close_window();
        world.check(&format!("the window after {fault:?} at call {number} with {settings:?}"));
    }
    (reached, outcomes)
}

#[test]
fn whatever_call_fails_in_a_batch_window_memory_is_what_one_run_leaves() {
    let mut runs = 0;
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
            for device_reserve in [0, u64::MAX] {
                let chunk = Chunk::new(256).unwrap();
                let settings = Settings { verify, shadow, device_reserve, chunk, ..batch(3) };
                for fault in [Fault::Fails, Fault::FailsLater, Fault::Denied, Fault::Lost] {
                    for number in 0.. {
                        let (reached, outcomes) = faulty(&settings, number, fault);
                        if !reached {
                            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Replayed), "{outcomes:?}");
                            break;
                        }
                        runs += 1;
                    }
                }
            }
        }
    }
    assert!(runs > 500, "only {runs} faults");
}

#[test]
fn a_pass_that_does_not_end_leaves_what_pass_0_left() {
    for waits in [1, u32::MAX] {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let agent = rig.agent();
        let mut world = World::new(&rig, batch(3));
        let a = world.allocate(900);
        world.launch(&Kernel::Add { at: a, value: 1 });
        world.launch(&Kernel::Add { at: a, value: 1 });
        agent.hang(1, waits);
        world.close_window();
        for record in world.log.take_dispatches() {
            assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{record:?}");
        }
        if waits == 1 {
            world.check("it ended late and was put back");
        }
        // Its kernels are not replayed again; others go on when it has ended.
        assert!(world.launch_apart(&Kernel::Add { at: a, value: 0 }).is_none());
        agent.hang(1, 0);
        world.launch_apart(&Kernel::Fill { to: a, value: 2 });
        world.close_window();
        assert_eq!(world.record().outcome, Outcome::Replayed);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Launch(u64, u32),
    Plain(u64),
    Operate(u64),
    Once,
    Write(u64),
    Allocate,
    Free(usize),
    Close,
    Check,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_leave_the_same_memory_in_batch_windows(
        steps in prop::collection::vec(prop_oneof![
            6 => (any::<u64>(), any::<u32>()).prop_map(|(at, value)| Step::Launch(at, value)),
            2 => any::<u64>().prop_map(Step::Plain),
            3 => any::<u64>().prop_map(Step::Operate),
            1 => Just(Step::Once),
            1 => any::<u64>().prop_map(Step::Write),
            1 => Just(Step::Allocate),
            1 => any::<usize>().prop_map(Step::Free),
            1 => Just(Step::Close),
            1 => Just(Step::Check),
        ], 1..50),
        passes in 2u32..5,
        verify in prop_oneof![Just(VerifyMode::Off), Just(VerifyMode::Outputs), Just(VerifyMode::All)],
        shadow in prop_oneof![Just(ShadowMode::Safe), Just(ShadowMode::Trusted)],
        dispatches in 1u32..9,
        device_reserve in prop_oneof![2 => Just(0u64), 1 => Just(u64::MAX), 1 => Just((1 << 40) - 5000)],
    ) {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let chunk = Chunk::new(256).unwrap();
        let limits = BatchLimits { dispatches, ..BatchLimits::default() };
        let settings = Settings { verify, shadow, chunk, batch: limits, device_reserve, ..batch(passes) };
        let mut world = World::with(&rig, settings, Arc::new(NotCopies), Arc::new(ByPlan));
        let mut live = vec![world.allocate(2000), world.allocate(1000)];
        for step in steps {
            let pick = |at: u64| {
                let range = live[(at % live.len() as u64) as usize];
                let start = (at >> 8) % (range.bytes / 4);
                Range::new(range.base + start * 4, ((range.bytes / 4 - start).min(50)) * 4)
            };
            match step {
                Step::Launch(at, value) => drop(world.launch(&Kernel::Add { at: pick(at), value })),
                Step::Plain(at) if live.len() > 1 => {
                    let words = live[0].bytes.min(live[1].bytes).min(4 * (1 + at % 50));
                    world.launch(&Kernel::Copy { to: live[1].base, from: Range::new(live[0].base, words) });
                }
                Step::Plain(_) => {}
                Step::Operate(at) => world.operate(&Kernel::Fill { to: pick(at), value: at as u32 }),
                Step::Once => drop(world.engine.operation()),
                Step::Write(at) => {
                    let range = pick(at);
                    world.write(range, &vec![at as u8; range.bytes as usize]);
                }
                Step::Allocate => {
                    // What is in memory at its birth is not defined; the program fills it.
                    let range = world.allocate(1200);
                    world.operate(&Kernel::Fill { to: range, value: 5 });
                    live.push(range);
                }
                Step::Free(index) if live.len() > 1 => {
                    let range = live.swap_remove(index % live.len());
                    world.free(range);
                }
                Step::Free(_) => {}
                Step::Close => world.close_window(),
                Step::Check => world.check("with a window open"),
            }
        }
        world.close_window();
        world.check("at the end");
        for record in world.log.take_dispatches() {
            prop_assert_eq!(record.outcome, Outcome::Replayed);
            prop_assert_eq!(record.divergence, None);
        }
    }
}

/// Kernels by the name "copy" are not selected.
struct NotCopies;

impl Filter for NotCopies {
    fn select(&self, kernel: &KernelInfo) -> bool {
        &*kernel.name != "copy"
    }
}

fn member<'a>(key: u64, work: Work, traits: Traits) -> Member<'a, Work> {
    let info = kreplay_engine::DispatchInfo { traits, ..info(key) };
    Member { info, operation: false, record: Box::new(move || Ok(work)) }
}

#[test]
fn launches_that_are_submitted_together_are_recorded_together() {
    let setup = setup(Settings { batch: BatchLimits { dispatches: 3, ..BatchLimits::default() }, ..batch(3) }, None);
    let before = setup.word();
    let double = |at: Range| {
        Work::new(move |memory| {
            for address in (at.base..at.end()).step_by(4) {
                let value = memory.load(address);
                memory.store(address, value.wrapping_mul(2));
            }
        })
    };
    // 3 is selected, 2 is not; the order shows in the result.
    let works = [add(setup.region, 1), double(setup.region), add(setup.region, 5)];
    for _ in 0..2 {
        let members = works.iter().zip([1, 2, 3]).map(|(work, key)| member(key, work.clone(), Traits::default()));
        let guard = setup.engine.submission(members.collect());
        works.iter().for_each(|work| setup.agent.program_launch(0, work));
        drop(guard);
    }
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    let after = |value: u32| value.wrapping_add(1).wrapping_mul(2).wrapping_add(5);
    assert_eq!(setup.word(), after(after(before)));
    // Four dispatches do not fit a window of three, and no submission is cut in two.
    let closings = setup.closings();
    assert_eq!(closings.iter().map(|closing| (closing.0, closing.1)).collect::<Vec<_>>(), [(2, 1), (2, 1)]);
    assert_eq!(closings[0].2, ClosingReason::Full);
    let records = setup.log.take_dispatches();
    assert_eq!(records.iter().map(|record| record.kernel.key).collect::<Vec<_>>(), [1, 3, 1, 3]);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
}

#[test]
fn a_submission_that_cannot_be_recorded_runs_outside_of_windows_and_says_why() {
    let capture = Traits { decline: Some(Decline::StreamCapture), ..Traits::default() };
    let own = Traits { own_window: true, ..Traits::default() };
    let reasons = |settings: Settings, second: Traits| {
        let setup = setup(settings, None);
        let before = setup.word();
        setup.launch(1);
        let members = vec![member(1, add(setup.region, 1), Traits::default()), member(3, add(setup.region, 1), second)];
        let guard = setup.engine.submission(members);
        (0..2).for_each(|_| setup.agent.program_launch(0, &add(setup.region, 1)));
        drop(guard);
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.word(), before + 3);
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.divergence.is_none()));
        let reason = |key| {
            records.iter().filter(|record| record.kernel.key == key).find_map(|record| match &record.outcome {
                Outcome::Declined { reason, .. } => Some(*reason),
                _ => None,
            })
        };
        (reason(1), reason(3))
    };
    let multi = Some(Decline::MultiPacket);
    assert_eq!(reasons(batch(2), Traits::default()), (None, None));
    assert_eq!(reasons(batch(2), capture), (multi, Some(Decline::StreamCapture)));
    assert_eq!(reasons(batch(2), own), (multi, multi));
    let short = BatchLimits { dispatches: 1, ..BatchLimits::default() };
    assert_eq!(reasons(Settings { batch: short, ..batch(2) }, Traits::default()), (multi, multi));
    assert_eq!(reasons(settings(2), Traits::default()), (multi, multi), "kernel windows hold one launch each");
}

#[test]
fn a_memory_operation_among_them_is_recorded_and_never_counted() {
    let setup = setup(batch(2), None);
    let before = setup.word();
    let operation = Member { operation: true, ..member(1, add(setup.region, 4), Traits::default()) };
    let guard = setup.engine.submission(vec![member(1, add(setup.region, 1), Traits::default()), operation]);
    [1, 4].into_iter().for_each(|value| setup.agent.program_launch(0, &add(setup.region, value)));
    drop(guard);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!((setup.word(), setup.log.not_selected()), (before + 5, 0));
    assert_eq!(setup.closings(), [(1, 1, ClosingReason::Exit)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}

#[test]
fn what_no_recorded_work_needs_is_freed_without_closing_the_window() {
    let setup = setup(batch(2), None);
    for kind in [RegionKind::KernelArguments, RegionKind::Host { copyable: false }, RegionKind::Device] {
        let range = Range::new(setup.agent.program_allocate(64), 64);
        setup.engine.region_born(Region { range, kind, writers: Writers::Others });
        setup.launch(1);
        drop(setup.engine.region_retire(range.base).unwrap());
        setup.agent.program_free(range.base);
    }
    assert!(setup.engine.region_retire(0x10).is_none(), "nothing is there");
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.closings(), [(3, 0, ClosingReason::Unrecordable), (1, 0, ClosingReason::Exit)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}

#[test]
fn memory_of_the_host_is_put_back_by_kernel_windows_only() {
    let setup = setup(batch(3), None);
    let host = Range::new(setup.agent.program_allocate(64), 64);
    setup.agent.with_memory(|memory| memory.bytes_mut(host).fill(0));
    setup.engine.region_born(Region {
        range: host,
        kind: RegionKind::Host { copyable: true },
        writers: Writers::Others,
    });
    setup.launch(1);
    // The window records: the host goes on writing its memory.
    setup.agent.with_memory(|memory| memory.store(host.base, 40));
    setup.launch(1);
    let own = kreplay_engine::DispatchInfo { traits: Traits { own_window: true, ..Traits::default() }, ..info(3) };
    launch(&setup.engine, &own, 0, &add(host, 2)).expect("a kernel window");
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.agent.with_memory(|memory| memory.load(host.base)), 42);
    assert_eq!(setup.closings(), [(2, 0, ClosingReason::Unrecordable), (1, 0, ClosingReason::Done)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}
