//! Failure at every step: whatever call of the agent fails, memory ends as one run leaves it, and nothing hangs.

use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{
    Capabilities, Chunk, Decline, Outcome, Range, Reach, RestoreMode, Settings, ShadowMode, VerifyMode,
};
use std::collections::BTreeSet;

fn combinations() -> Vec<Settings> {
    let mut all = Vec::new();
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
            for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
                for device_reserve in [0, u64::MAX] {
                    let base = Settings { restore, verify, shadow, device_reserve, ..Settings::default() };
                    let chunk = Chunk::new(256).unwrap();
                    all.push(Settings { uncounted_passes: 3, reach: Reach::All, chunk, ..base });
                }
            }
        }
    }
    all
}

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::FailsLater, Fault::Denied, Fault::Lost];

/// Windows of a trusted shadow before it is believed.
const AUDITED: u32 = 8;

/// Three launches, the last on memory that the second window knows already. With a fault at call `number` of the second.
/// Before it are so many windows.
fn run(settings: &Settings, before: u32, number: u64, fault: Fault) -> (bool, Outcome) {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, settings.clone());
    let (a, b) = (world.allocate(900), world.allocate(512));
    let kernels = [Kernel::Add { at: a, value: 3 }, Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base }];
    for _ in 0..before {
        world.launch(&kernels[0]);
    }
    // A region that the window has to place.
    let c = world.allocate(500);
    agent.fail_at(number, fault);
    world.launch(&kernels[1]);
    let reached = agent.calls().len() as u64 > number;
    let outcome = world.record().outcome;
    agent.restart_count();
    let lost = fault == Fault::Lost && reached;
    if !lost {
        world.check(&format!("{fault:?} at call {number} with {settings:?}"));
    }
    world.launch(&Kernel::Add { at: c, value: 1 });
    if lost {
        let next = world.record().outcome;
        assert!(matches!(next, Outcome::Declined { reason: Decline::AgentLost, .. }), "{next:?}");
    } else {
        world.check(&format!("the launch after {fault:?} at call {number} with {settings:?}"));
    }
    (reached, outcome)
}

#[test]
fn whatever_call_fails_memory_is_what_one_run_leaves() {
    let mut outcomes = BTreeSet::new();
    let mut runs = 0;
    for settings in combinations() {
        // The last window that audits, and the first that believes.
        let believes = settings.shadow == ShadowMode::Trusted && settings.restore == RestoreMode::Observed;
        let before: &[u32] = if believes { &[AUDITED - 1, AUDITED] } else { &[1] };
        for (before, fault) in before.iter().flat_map(|before| FAULTS.map(|fault| (*before, fault))) {
            for number in 0.. {
                let (reached, outcome) = run(&settings, before, number, fault);
                if !reached {
                    assert_eq!(outcome, Outcome::Replayed, "nothing failed");
                    break;
                }
                runs += 1;
                outcomes.insert(match outcome {
                    Outcome::Declined { reason, .. } => reason.name(),
                    Outcome::Replayed => "replayed",
                    Outcome::Counted => "counted",
                });
            }
        }
    }
    assert!(runs > 1000, "only {runs} faults");
    for seen in ["replayed", "capture_failed", "pass_failed", "drain_timeout", "no_backing", "agent_lost"] {
        assert!(outcomes.contains(seen), "{seen} was never seen in {outcomes:?}");
    }
}

#[test]
fn an_agent_that_cannot_compare_is_replayed_by_full_restore() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).capabilities(Capabilities::default()).build());
    let mut world = World::new(&rig, Settings { uncounted_passes: 3, ..Settings::default() });
    let a = world.allocate(9000);
    for _ in 0..3 {
        world.launch(&Kernel::Add { at: a, value: 3 });
    }
    world.check("full restore");
    let record = world.record();
    assert_eq!(record.outcome, Outcome::Replayed);
    assert!(record.notes.iter().any(|note| note.contains("cannot compare")), "{:?}", record.notes);
    assert_eq!((record.bytes.write_set, record.bytes.compared), (0, 0));
}

#[test]
fn calls_that_always_fail_never_harm_the_program() {
    for settings in combinations() {
        for call in Call::ALL {
            for fault in [Fault::Fails, Fault::FailsLater, Fault::Denied] {
                let rig = MemoryRig::of(MemoryAgent::builder(0).build());
                let agent = rig.agent();
                let mut world = World::new(&rig, settings.clone());
                let (a, b) = (world.allocate(900), world.allocate(512));
                world.launch(&Kernel::Add { at: b, value: 3 });
                agent.fail_every(Some((call, fault)));
                // A copy that fails for good cannot put anything back: such an agent is given up as lost, and what the
                // program's memory holds is not checked then.
                for kernel in [
                    Kernel::Add { at: a, value: 3 },
                    Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base },
                    Kernel::Add { at: b, value: 1 },
                ] {
                    world.launch(&kernel);
                    if matches!(world.record().outcome, Outcome::Declined { reason: Decline::AgentLost, .. }) {
                        assert!(matches!(call, Call::Copy | Call::Synchronise | Call::Settle), "{call:?} {fault:?}");
                        break;
                    }
                    world.check(&format!("{call:?} always {fault:?} with {settings:?}"));
                }
                agent.fail_every(None);
            }
        }
    }
}

#[test]
fn a_kernel_that_is_too_slow_is_put_back_and_not_replayed_again() {
    for restore in [RestoreMode::Observed, RestoreMode::Full] {
        for submission in [0, 1, 2] {
            let rig = MemoryRig::of(MemoryAgent::builder(0).build());
            let agent = rig.agent();
            let mut world = World::new(&rig, Settings { restore, uncounted_passes: 4, ..Settings::default() });
            let a = world.allocate(9000);
            agent.hang(submission, 1);
            let kernel = Kernel::Add { at: a, value: 3 };
            let status = world.launch(&kernel).expect("a window");
            assert!(matches!(status.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{status:?}");
            world.check("a slow pass was put back");
            assert!(world.launch(&kernel).is_none(), "it runs as it is from now on");
            world.check("once");
            assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
            let other = Kernel::Accumulate { from: Range::new(a.base, 4096), to: a.base + 8192 };
            world.launch(&other).expect("other kernels are replayed");
            assert_eq!(world.record().outcome, Outcome::Replayed);
            world.check("another kernel");
        }
    }
}

/// The copy into the snapshot ends after the window was given up, and what it copied is something else by then.
#[test]
fn a_snapshot_that_came_late_is_not_known() {
    let window = |faults: &[u64]| {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let agent = rig.agent();
        // The snapshot lies on the host, where its hashes are kept.
        let chunk = Chunk::new(256).unwrap();
        let settings = Settings { uncounted_passes: 3, device_reserve: u64::MAX, chunk, ..Settings::default() };
        let mut world = World::new(&rig, settings);
        let a = world.allocate(1024);
        // The other one adds 1, and is not refused with the first.
        let kernel = Kernel::Add { at: a, value: 3 };
        let other = Kernel::Escape { counter: world.hidden(), pass: u32::MAX, at: a, to: a.base };
        world.launch(&kernel);
        world.write(a, &[0; 1024]);
        agent.restart_count();
        faults.iter().for_each(|number| agent.fail_also_at(*number, Fault::Denied));
        world.launch(&kernel);
        world.check("nothing of it has run");
        let calls = agent.calls();
        if !faults.is_empty() {
            agent.restart_count();
            // Now the copy ends, and then there is no window.
            agent.fail_every(Some((Call::Drain, Fault::Denied)));
            assert!(world.launch(&other).is_none());
            agent.fail_every(None);
            world.write(a, &[0; 1024]);
            world.launch(&other).expect("a window");
            assert_eq!(world.record().outcome, Outcome::Replayed);
            world.check("the next window");
        }
        calls
    };
    // The wait for the snapshot, and the one after that failed.
    let wait = window(&[]).iter().position(|call| *call == Call::Settle).expect("it waits") as u64;
    window(&[wait, wait + 1]);
}

#[test]
fn invariant_6_no_window_outlives_its_deadline_and_no_deadline_kills() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { uncounted_passes: 4, ..Settings::default() });
    let a = world.allocate(9000);
    let others = world.allocate(64);
    agent.hang(1, u32::MAX);
    let kernel = Kernel::Add { at: a, value: 3 };
    let status = world.launch_apart(&kernel).expect("a window");
    assert!(matches!(status.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{status:?}");
    let record = world.record();
    assert!(record.notes.iter().any(|note| note.contains("did not end")), "{:?}", record.notes);
    // While it runs nothing is replayed, nothing of its backing is freed, and launches go through.
    assert!(world.launch_apart(&Kernel::Fill { to: others, value: 1 }).is_none());
    assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::DrainTimeout, .. }));
    assert_eq!(world.engine.release_idle(), 0);
    // It ends after all; the engine goes on.
    agent.hang(1, 0);
    world.launch_apart(&Kernel::Fill { to: others, value: 2 }).expect("a window");
    assert_eq!(world.record().outcome, Outcome::Replayed);
}

#[test]
fn a_queue_that_does_not_drain_declines() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { uncounted_passes: 3, ..Settings::default() });
    let a = world.allocate(4096);
    agent.stall(7);
    agent.program_launch(7, &rig.work(&Kernel::Fill { to: Range::new(a.base, 64), value: 5 }));
    assert!(world.launch(&Kernel::Add { at: a, value: 1 }).is_none());
    assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::DrainTimeout, .. }));
    world.check("the stalled kernel has not run");
    agent.resume(7);
    world.model_run(&Kernel::Fill { to: Range::new(a.base, 64), value: 5 });
    world.check("it runs once");
    world.launch(&Kernel::Add { at: a, value: 1 }).expect("a window");
    world.check("and then windows open again");
}

#[test]
fn the_programs_own_pass_may_not_end() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, Settings { uncounted_passes: 3, ..Settings::default() });
    let a = world.allocate(4096);
    let kernel = Kernel::Add { at: a, value: 1 };
    let kreplay_engine::Decision::Window(mut window) =
        world.engine.dispatch(&world.info(&kernel), || Ok(rig.work(&kernel)))
    else {
        panic!("no window");
    };
    window.run_until_last();
    agent.stall(7);
    agent.program_launch(7, &rig.work(&kernel));
    let status = window.close(kreplay_engine::LastPass::Submitted);
    assert!(matches!(status.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
    world.check("it has not run yet");
    agent.resume(7);
    agent.program_synchronise();
    world.model_run(&kernel);
    world.check("it ran once");
}
