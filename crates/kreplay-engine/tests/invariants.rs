//! The design's invariants, by number, as far as an agent in host memory can show them. Invariants 8 and 9 are the
//! file's.

mod support;

use kreplay_engine::conformance::{Kernel, Log, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent, Work};
use kreplay_engine::{
    ByPlan, Capabilities, Decision, Decline, Engine, EveryKernel, Filter, KernelInfo, LastPass, ModuleVariable,
    Outcome, Process, Range, Region, RegionKind, RestoreMode, Settings, ShadowMode, VerifyMode, Writers,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use support::{add, allocate, info, launch, settings};

fn rig() -> MemoryRig {
    MemoryRig::of(MemoryAgent::builder(0).build())
}

fn modes() -> [Settings; 3] {
    [
        Settings { uncounted_passes: 3, ..Settings::default() },
        Settings { uncounted_passes: 3, shadow: ShadowMode::Trusted, ..Settings::default() },
        Settings { uncounted_passes: 3, restore: RestoreMode::Full, ..Settings::default() },
    ]
}

#[test]
fn invariant_1_memory_is_what_an_unprofiled_run_leaves() {
    for settings in modes() {
        let rig = rig();
        let mut world = World::new(&rig, settings);
        let (a, b) = (world.allocate(20_000), world.allocate(64));
        for round in 0..20 {
            world.launch(&Kernel::Add { at: a, value: round });
            world.launch(&Kernel::Accumulate { from: Range::new(a.base, 8000), to: b.base });
            world.write(Range::new(b.base + 8, 4), &[round as u8; 4]);
        }
        world.check("forty windows");
    }
}

#[test]
fn invariant_1_what_another_writer_put_there_between_windows_is_not_lost() {
    for settings in modes() {
        let rig = rig();
        let mut world = World::new(&rig, settings);
        let shared = world.allocate_as(20_000, RegionKind::Device, Writers::Others);
        for round in 0..20u8 {
            world.write_unseen(shared.base + 4096 + u64::from(round), &[round ^ 0x55; 8]);
            world.launch(&Kernel::Add { at: Range::new(shared.base + 4096 + 512, 256), value: 1 });
        }
        world.check("twenty foreign writes");
    }
}

/// A pass writes something else than pass 0 did, and elsewhere, long after the audits of trusted windows. Once that is
/// known, neither the program's own pass nor the next window builds on what was not looked at.
#[test]
fn invariant_1_what_divergent_passes_wrote_elsewhere_is_undone_or_kept_in_trusted_windows() {
    const PASSES: u32 = 4;
    const WINDOWS: u32 = 12;
    for escaping in [1, 2, PASSES - 1] {
        let agent = MemoryAgent::builder(0).build();
        let log = Log::new();
        let settings = Settings { shadow: ShadowMode::Trusted, ..settings(PASSES) };
        let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
        let engine = Engine::new(Arc::clone(&agent), None, process).expect("nothing is asked for");
        let (at, elsewhere) = (allocate(&agent, &engine, 8192), allocate(&agent, &engine, 8192));
        let read = |address| agent.with_memory(|memory| memory.load(address));
        let before = read(elsewhere.base);
        let runs = Arc::new(AtomicU32::new(0));
        let divergent = Work::new(move |memory| {
            let sum = memory.load(at.base) + 1;
            memory.store(at.base, sum);
            let run = runs.fetch_add(1, Ordering::Relaxed);
            if run / PASSES != WINDOWS - 1 {
                return;
            }
            // In the last of the windows pass 1 and the program's own differ, and one writes elsewhere.
            let pass = run % PASSES;
            if pass == 1 || pass == escaping {
                memory.store(at.base + 8, 7 + pass);
            }
            if pass == escaping {
                memory.store(elsewhere.base, 77);
            }
        });
        for _ in 0..WINDOWS {
            launch(&engine, &info(1), 0, &divergent).expect("a window");
        }
        let divergence = log.last_dispatch().divergence.expect("it is reported");
        assert_eq!((divergence.pass, divergence.range), (Some(1), Range::new(at.base, 4096)));
        let expected = if escaping == PASSES - 1 { 77 } else { before };
        assert_eq!(read(elsewhere.base), expected, "pass {escaping} wrote elsewhere");
        assert!(log.warnings().contains(&"trust_off"));
        // The next window writes beside it, in the same chunk.
        launch(&engine, &info(2), 0, &add(Range::new(elsewhere.base + 8, 4), 1)).expect("a window");
        assert_eq!(read(elsewhere.base), expected, "pass {escaping}, after the next window");
    }
}

#[test]
fn invariant_1_module_variables_are_captured_and_kernel_arguments_never_restored() {
    for settings in modes() {
        let rig = rig();
        let agent = rig.agent();
        let world = World::new(&rig, settings);
        let (variables, arguments) = (Range::new(rig.allocate(64), 64), Range::new(rig.allocate(64), 64));
        rig.write(variables.base, &[1; 64]);
        rig.write(arguments.base, &[2; 64]);
        let variable = |name: &str, at, constant| ModuleVariable {
            name: name.into(),
            range: Range::new(at, 8),
            constant,
            managed: false,
        };
        world.engine.code_loaded(
            9,
            vec![
                variable("count", variables.base, false),
                variable("__hip_cuid_1234", variables.base + 16, false),
                variable("table", variables.base + 32, true),
            ],
        );
        let kind = RegionKind::KernelArguments;
        world.engine.region_born(Region { range: arguments, kind, writers: Writers::Seen });
        // One kernel that adds 1 to everything: what is put back ran once, what is not ran three times.
        let both = [variables, arguments];
        let work = kreplay_engine::memory_agent::Work::new(move |memory| {
            for range in both {
                memory.bytes_mut(range).iter_mut().for_each(|byte| *byte += 1);
            }
        });
        launch(&world.engine, &info(77), 0, &work).expect("a window");
        let found = rig.read(variables);
        assert_eq!((&found[..8], &found[16..24], &found[32..40]), (&[2; 8][..], &[4; 8][..], &[4; 8][..]));
        assert_eq!(rig.read(arguments), [5; 64]);
        assert_eq!(world.record().bytes.footprint, 8);
        world.engine.code_unloaded(9);
        launch(&world.engine, &info(77), 0, &work).expect("a window");
        assert_eq!(world.record().bytes.footprint, 0);
        assert_eq!(agent.usage().device, 0, "nothing is kept for code that is gone");
    }
}

#[test]
fn invariant_2_the_program_launches_once_and_each_dispatch_has_one_id() {
    let rig = rig();
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { uncounted_passes: 5, ..Settings::default() });
    let a = world.allocate(64);
    for _ in 0..3 {
        world.launch(&Kernel::Add { at: a, value: 1 });
    }
    assert_eq!(agent.submissions(), 3 * 4, "the fifth pass of each is the program's own");
    let records = world.log.take_dispatches();
    assert_eq!(records.iter().map(|record| record.id.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(world.log.windows().iter().map(|window| window.dispatches).collect::<Vec<_>>(), [1, 1, 1]);
}

/// What each pass of a kernel saw.
fn inputs(settings: Settings) -> (Vec<u32>, Arc<Log>) {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let process = Process::new(settings, Arc::new(EveryKernel), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let (region, secret) = (allocate(&agent, &engine, 9000), allocate(&agent, &engine, 9000));
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (log_input, runs) = (seen.clone(), AtomicU32::new(0));
    let work = kreplay_engine::memory_agent::Work::new(move |memory| {
        log_input.lock().unwrap().push(memory.load(region.base).wrapping_add(memory.load(secret.base + 8000)));
        memory.store(region.base, 7 + memory.load(region.base));
        if runs.fetch_add(1, Ordering::SeqCst) == 1 {
            memory.store(secret.base + 8000, 1);
        }
    });
    launch(&engine, &info(1), 0, &work).expect("a window");
    let inputs = seen.lock().unwrap().clone();
    (inputs, log)
}

#[test]
fn invariant_3_every_pass_starts_from_the_same_memory_or_is_reported() {
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for restore in [RestoreMode::Observed, RestoreMode::Full] {
            // Pass 1 writes where pass 0 did not.
            let (inputs, log) = inputs(Settings { verify, restore, ..settings(4) });
            let same = inputs.iter().all(|input| *input == inputs[0]);
            let record = log.last_dispatch();
            let hashed = verify != VerifyMode::Off;
            match restore {
                RestoreMode::Full => {
                    assert!(same, "{verify:?}: {inputs:?}");
                    assert_eq!(record.divergence.is_some(), hashed);
                }
                RestoreMode::Observed => {
                    assert_eq!(same, verify == VerifyMode::All, "checked after every pass, it is undone at once");
                    assert!(record.divergence.is_some_and(|divergence| divergence.escaped));
                }
            }
            assert_eq!(inputs[0], *inputs.last().unwrap(), "the program's own pass sees what it would have seen");
        }
    }
}

#[test]
fn invariant_4_a_snapshot_is_whole_or_the_dispatch_declines() {
    for settings in modes() {
        for (call, fault, reason) in [
            (Call::Copy, Fault::Fails, Decline::CaptureFailed),
            (Call::Copy, Fault::FailsLater, Decline::CaptureFailed),
            (Call::Allocate, Fault::Denied, Decline::NoBacking),
        ] {
            let rig = rig();
            let agent = rig.agent();
            let mut world = World::new(&rig, settings.clone());
            let a = world.allocate(9000);
            agent.fail_every(Some((call, fault)));
            world.launch(&Kernel::Add { at: a, value: 1 });
            agent.fail_every(None);
            let outcome = world.record().outcome;
            assert!(matches!(outcome, Outcome::Declined { reason: why, .. } if why == reason), "{outcome:?}");
            assert_eq!(agent.submissions(), 0, "no pass runs without a snapshot");
            world.check("the program's own launch");
        }
    }
}

#[test]
fn invariant_5_shadow_and_pool_never_hold_more_than_the_last_footprint() {
    for observe_host in [false, true] {
        for device_reserve in [0, u64::MAX] {
            for settings in modes() {
                let capabilities = Capabilities { observe: true, observe_host };
                let rig = MemoryRig::of(MemoryAgent::builder(0).capabilities(capabilities).build());
                let agent = rig.agent();
                let mut world = World::new(&rig, Settings { device_reserve, ..settings });
                let mut live = std::collections::VecDeque::new();
                for round in 0..30u64 {
                    live.push_back(world.allocate(4000 + round * 700));
                    if round % 3 == 2 {
                        world.free(live.pop_front().unwrap());
                        world.free(live.pop_front().unwrap());
                    }
                    world.launch(&Kernel::Add { at: live[0], value: 1 });
                    let footprint: u64 = live.iter().map(|range| range.bytes).sum();
                    assert_eq!(world.record().bytes.footprint, footprint);
                    let usage = agent.usage();
                    // The pool may reuse a buffer of up to twice the request.
                    let most = if device_reserve == 0 { footprint } else { 2 * footprint };
                    assert!(usage.device + usage.host <= most, "{usage:?} for {footprint}");
                    assert!(world.engine.retained_bytes() + world.engine.shadow_bytes() <= usage.device + usage.host);
                }
                world.check("thirty windows");
                drop(world);
                assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
            }
        }
    }
}

#[test]
fn invariant_5_retained_storage_is_reused() {
    let rig = rig();
    let agent = rig.agent();
    let settings = Settings { device_reserve: u64::MAX, uncounted_passes: 2, ..Settings::default() };
    let mut world = World::new(&rig, settings);
    let a = world.allocate(9000);
    for _ in 0..5 {
        world.launch(&Kernel::Add { at: a, value: 1 });
        assert_eq!(world.engine.retained_bytes(), 9000, "between windows");
    }
    assert_eq!(agent.usage().allocations, 1, "allocated and pinned once");
}

#[test]
fn a_capture_trims_the_pool_even_when_it_declines() {
    let rig = rig();
    let agent = rig.agent();
    let settings = Settings { device_reserve: u64::MAX, uncounted_passes: 2, ..Settings::default() };
    let mut world = World::new(&rig, settings);
    let a = world.allocate(9000);
    world.launch(&Kernel::Add { at: a, value: 1 });
    world.free(a);
    let b = world.allocate(100_000);
    agent.fail_every(Some((Call::Allocate, Fault::Denied)));
    world.launch(&Kernel::Add { at: b, value: 1 });
    assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::NoBacking, .. }));
    assert_eq!((agent.usage().host, world.engine.retained_bytes()), (0, 0));
    agent.fail_every(None);
}

#[test]
fn the_device_reserve_and_the_host_budget_are_kept() {
    let agent = MemoryAgent::builder(0).device_memory(100_000).build();
    let rig = MemoryRig::of(agent.clone());
    let limits = Settings { device_reserve: 30_000, host_budget: 8_000, ..Settings::default() };
    let mut world = World::new(&rig, limits);
    let (a, b) = (world.allocate(30_000), world.allocate(7_000));
    world.launch(&Kernel::Add { at: a, value: 1 });
    let usage = agent.usage();
    assert_eq!((usage.device, usage.host), (30_000, 7_000), "the small one finds no room beside the reserve");
    assert_eq!(world.record().outcome, Outcome::Replayed);
    // A shadow that stands in the program's way is released.
    assert_eq!(world.engine.release_idle(), 30_000);
    let c = world.allocate(60_000);
    world.launch(&Kernel::Add { at: b, value: 1 });
    assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::NoBacking, .. }));
    world.check("declined");
    world.free(c);
    world.launch(&Kernel::Add { at: b, value: 1 });
    assert_eq!(world.record().outcome, Outcome::Replayed);
    world.check("replayed");
}

struct Only(u64, AtomicU32);

impl Filter for Only {
    fn select(&self, kernel: &KernelInfo) -> bool {
        self.1.fetch_add(1, Ordering::SeqCst);
        kernel.key == self.0
    }
}

#[test]
fn invariant_7_a_dispatch_that_is_not_selected_is_never_snapshotted_and_asked_about_once() {
    let agent = MemoryAgent::builder(0).build();
    let log = Log::new();
    let filter = Arc::new(Only(5, AtomicU32::new(0)));
    let process = Process::new(settings(4), filter.clone(), Arc::new(ByPlan), log.clone());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    for _ in 0..10 {
        let run = engine.dispatch(&info(1), || panic!("a launch that is not selected is not recorded"));
        assert!(matches!(run, Decision::Run(_)));
    }
    assert_eq!((agent.usage().allocations, agent.calls().len()), (0, 1), "only its memory was asked for, at the start");
    assert_eq!((log.not_selected(), log.take_dispatches().len()), (10, 0));
    launch(&engine, &info(5), 0, &add(region, 1)).expect("a window");
    assert_eq!(filter.1.load(Ordering::SeqCst), 11, "once a dispatch, never per pass");
}

#[test]
fn after_the_end_of_the_program_launches_run_as_they_are() {
    let rig = rig();
    let mut world = World::new(&rig, Settings::default());
    let a = world.allocate(4096);
    world.launch(&Kernel::Add { at: a, value: 1 });
    world.engine.finish(Instant::now() + Duration::from_secs(10));
    assert!(world.launch(&Kernel::Add { at: a, value: 1 }).is_none());
    world.check("after the end");
    assert_eq!(world.log.take_dispatches().len(), 1);
    let agent = rig.agent();
    assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
}

#[test]
fn the_end_of_the_program_does_not_wait_for_a_window_longer_than_told() {
    let agent = MemoryAgent::builder(0).build();
    let process = Process::new(settings(3), Arc::new(EveryKernel), Arc::new(ByPlan), Log::new());
    let engine = Engine::new(agent.clone(), None, process).unwrap();
    let region = allocate(&agent, &engine, 4096);
    let Decision::Window(mut window) = engine.dispatch(&info(1), || Ok(add(region, 1))) else { panic!("no window") };
    let other = engine.clone();
    std::thread::spawn(move || other.finish(Instant::now() + Duration::from_millis(20))).join().unwrap();
    window.run_until_last();
    agent.program_launch(0, &add(region, 1));
    assert_eq!(window.close(LastPass::Submitted).outcome, Outcome::Replayed);
}

/// A tool's callback that frees a region within the window, and has its address given out anew.
struct Frees {
    engine: std::sync::Mutex<Option<Arc<Engine<MemoryAgent>>>>,
    victim: std::sync::Mutex<Option<Range>>,
}

impl kreplay_engine::Policy for Frees {
    fn proceed(&self, _: &kreplay_engine::DispatchInfo, _: kreplay_engine::PassEnd) -> bool {
        if let Some(victim) = self.victim.lock().unwrap().take() {
            let engine = self.engine.lock().unwrap().clone().unwrap();
            let retired = engine.region_retire(victim.base).unwrap();
            // Work on the freed bytes is done before a real free returns.
            engine.agent().program_synchronise();
            engine.agent().with_memory(|memory| memory.bytes_mut(victim).fill(0));
            engine.agent().program_free(victim.base);
            drop(retired);
            engine.agent().program_allocate_at(victim.base, victim.bytes);
            engine.agent().with_memory(|memory| memory.bytes_mut(victim).fill(0x77));
            engine.region_born(Region { range: victim, kind: RegionKind::Device, writers: Writers::Seen });
        }
        true
    }
}

#[test]
fn invariant_4_nothing_is_restored_into_a_region_of_another_generation() {
    for (restore, verify) in [
        (RestoreMode::Observed, VerifyMode::Off),
        (RestoreMode::Observed, VerifyMode::Outputs),
        (RestoreMode::Observed, VerifyMode::All),
        (RestoreMode::Full, VerifyMode::Outputs),
    ] {
        for device_reserve in [0, u64::MAX] {
            let agent = MemoryAgent::builder(0).eager().build();
            let log = Log::new();
            let policy = Arc::new(Frees { engine: Default::default(), victim: Default::default() });
            let limits = Settings { restore, verify, device_reserve, ..settings(4) };
            let process = Process::new(limits, Arc::new(EveryKernel), policy.clone(), log.clone());
            let engine = Engine::new(agent.clone(), None, process).unwrap();
            let (a, b) = (allocate(&agent, &engine, 4096), allocate(&agent, &engine, 8192));
            *policy.engine.lock().unwrap() = Some(engine.clone());
            *policy.victim.lock().unwrap() = Some(b);
            // Pass 0 writes both, so that a restore would write the second one back.
            let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
            let work = kreplay_engine::memory_agent::Work::new(move |memory| {
                let value = memory.load(a.base) + 1;
                memory.store(a.base, value);
                if first.swap(false, Ordering::SeqCst) {
                    memory.store(b.base, 1);
                }
            });
            let before = agent.with_memory(|memory| memory.load(a.base));
            launch(&engine, &info(1), 0, &work).expect("a window");
            assert_eq!(agent.with_memory(|memory| memory.load(a.base)), before + 1);
            assert!(agent.program_read(b) == [0x77; 8192], "{restore:?} {verify:?}: a new region was written");
            let record = log.last_dispatch();
            assert_eq!(record.outcome, Outcome::Replayed);
            assert!(record.notes.iter().any(|note| note.contains("freed within the window")), "{:?}", record.notes);
            *policy.engine.lock().unwrap() = None;
            engine.finish(Instant::now());
            assert_eq!((agent.usage().device, agent.usage().host), (0, 0));
        }
    }
}
