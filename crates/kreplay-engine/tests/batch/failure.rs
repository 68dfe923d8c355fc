//! Failure inside batch windows: every fault that kernel windows are tried with, and what only batch windows can meet.

use crate::support::{InLine, Scripted, add, allocate, info, launch, limits, settings};
use kreplay_engine::conformance::{Kernel, Log, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{
    BatchLimits, ByPlan, Capabilities, Chunk, Counters, Decline, Engine, EveryKernel, Outcome, Process, Range, Request,
    Settings, ShadowMode, VerifyMode, WindowMode,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn batch(passes: u32) -> Settings {
    let batch = BatchLimits { dispatches: 6, ..limits() };
    Settings { window: WindowMode::Batch, batch, chunk: Chunk::new(256).unwrap(), ..settings(passes) }
}

fn combinations() -> Vec<Settings> {
    let mut all = Vec::new();
    for verify in [VerifyMode::Off, VerifyMode::Outputs, VerifyMode::All] {
        for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
            for device_reserve in [0, u64::MAX] {
                all.push(Settings { verify, shadow, device_reserve, ..batch(3) });
            }
        }
    }
    all
}

/// One window of three launches and a memory operation.
fn window<R: Rig>(world: &mut World<'_, R>, a: Range, b: Range) {
    world.launch(&Kernel::Add { at: a, value: 3 });
    world.operate(&Kernel::Fill { to: Range::new(b.base + 64, 64), value: 9 });
    world.launch(&Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base });
    world.launch(&Kernel::Add { at: b, value: 1 });
}

fn lost(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Declined { reason: Decline::AgentLost, .. })
}

#[test]
fn calls_that_always_fail_never_harm_the_program() {
    let mut outcomes = BTreeSet::new();
    for settings in combinations() {
        for call in Call::ALL {
            for fault in [Fault::Fails, Fault::FailsLater, Fault::Denied] {
                // From the opening on, and while the window records already.
                for recording in [false, true] {
                    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
                    let agent = rig.agent();
                    let mut world = World::new(&rig, settings.clone());
                    let (a, b) = (world.allocate(900), world.allocate(512));
                    if recording {
                        world.launch(&Kernel::Add { at: b, value: 3 });
                    }
                    agent.fail_every(Some((call, fault)));
                    window(&mut world, a, b);
                    world.close_window();
                    let records = world.log.take_dispatches();
                    assert_eq!(records.len(), 3 + usize::from(recording));
                    // An agent that cannot put anything back is given up, and what memory holds is not checked then.
                    if records.iter().any(|record| lost(&record.outcome)) {
                        assert!(matches!(call, Call::Copy | Call::Synchronise | Call::Settle), "{call:?} {fault:?}");
                        continue;
                    }
                    world.check(&format!("{call:?} always {fault:?}, recording {recording}, with {settings:?}"));
                    agent.fail_every(None);
                    window(&mut world, a, b);
                    world.close_window();
                    world.check(&format!("after {call:?} always {fault:?} with {settings:?}"));
                    outcomes.extend(records.into_iter().map(|record| match record.outcome {
                        Outcome::Declined { reason, .. } => reason.name(),
                        _ => "replayed",
                    }));
                }
            }
        }
    }
    for seen in ["replayed", "capture_failed", "pass_failed", "drain_timeout", "no_backing"] {
        assert!(outcomes.contains(seen), "{seen} was never seen in {outcomes:?}");
    }
}

#[test]
fn a_launch_that_is_too_slow_in_any_pass_is_put_back_and_not_replayed_again() {
    // Two replays of four entries each.
    for submission in 0..8 {
        for verify in [VerifyMode::Off, VerifyMode::All] {
            let rig = MemoryRig::of(MemoryAgent::builder(0).build());
            let agent = rig.agent();
            let mut world = World::new(&rig, Settings { verify, ..batch(3) });
            let (a, b) = (world.allocate(900), world.allocate(512));
            let when = format!("submission {submission}, {verify:?}");
            let failed = |outcome: &Outcome| matches!(outcome, Outcome::Declined { reason: Decline::PassFailed, .. });
            // The first time shows that one of them is too slow, the second time which.
            for _ in 0..2 {
                agent.hang(agent.submissions() + submission, 1);
                window(&mut world, a, b);
                world.close_window();
                world.check(&when);
                let records = world.log.take_dispatches();
                assert!(records.len() == 3 && records.iter().all(|record| failed(&record.outcome)), "{when}");
            }
            // Its kernel is not replayed again in this run; others are. A memory operation cannot be told from others.
            let slow = ["add", "", "accumulate", "add"][submission as usize % 4];
            let add = Kernel::Add { at: a, value: 1 };
            let accumulate = Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base };
            for kernel in [add, accumulate, Kernel::Fill { to: a, value: 1 }] {
                world.launch(&kernel);
                world.close_window();
                world.check(&when);
                let refused = kernel.name() == slow || slow.is_empty() && kernel.name() != "fill";
                assert_eq!(failed(&world.record().outcome), refused, "{when}, {}", kernel.name());
            }
        }
    }
}

#[test]
fn a_launch_that_never_ends_in_any_pass_stops_nobody() {
    for submission in 0..8 {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let agent = rig.agent();
        let mut world = World::new(&rig, batch(3));
        let (a, b) = (world.allocate(900), world.allocate(512));
        let others = world.allocate(64);
        agent.hang(submission, u32::MAX);
        window(&mut world, a, b);
        world.close_window();
        for record in world.log.take_dispatches() {
            assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{record:?}");
            assert!(record.notes.iter().any(|note| note.contains("did not end")), "{:?}", record.notes);
        }
        // While it runs nothing is replayed, nothing of its backing is freed, and launches go through.
        assert!(world.launch_apart(&Kernel::Fill { to: others, value: 1 }).is_none());
        assert!(matches!(world.record().outcome, Outcome::Declined { reason: Decline::DrainTimeout, .. }));
        assert_eq!(world.engine.release_idle(), 0);
        // It ends after all; the engine goes on.
        agent.hang(submission, 0);
        world.launch_apart(&Kernel::Fill { to: others, value: 2 });
        world.close_window();
        assert_eq!(world.record().outcome, Outcome::Replayed);
    }
}

#[test]
fn a_queue_that_does_not_drain_declines_at_the_opening_and_at_the_end() {
    for before in [true, false] {
        let rig = MemoryRig::of(MemoryAgent::builder(0).build());
        let agent = rig.agent();
        let mut world = World::new(&rig, batch(3));
        let a = world.allocate(4096);
        let stalled = Kernel::Fill { to: Range::new(a.base, 64), value: 5 };
        if !before {
            world.launch(&Kernel::Add { at: a, value: 1 });
        }
        agent.stall(7);
        if before {
            agent.program_launch(7, &rig.work(&stalled));
            assert!(world.launch(&Kernel::Add { at: a, value: 1 }).is_none());
        } else {
            // Recorded, and then it does not run.
            let guard = world.engine.dispatch(&world.info(&stalled), || Ok(rig.work(&stalled)));
            agent.program_launch(7, &rig.work(&stalled));
            drop(guard);
        }
        world.close_window();
        for record in world.log.take_dispatches() {
            assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::DrainTimeout, .. }), "{record:?}");
        }
        world.check("the stalled kernel has not run");
        agent.resume(7);
        world.model_run(&stalled);
        world.check("it runs once");
        world.launch(&Kernel::Add { at: a, value: 1 });
        world.close_window();
        world.check("and then windows open again");
        assert_eq!(world.record().outcome, Outcome::Replayed);
    }
}

#[test]
fn an_agent_that_cannot_compare_has_kernel_windows() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).capabilities(Capabilities::default()).build());
    let mut world = World::new(&rig, batch(3));
    let a = world.allocate(9000);
    for _ in 0..2 {
        world.launch(&Kernel::Add { at: a, value: 3 }).expect("a kernel window");
    }
    world.check("full restore");
    assert!(world.record().notes.iter().any(|note| note.contains("cannot compare")));
}

/// What counters fail at costs values, in whichever pass and call, and never the program.
#[test]
fn counters_that_fail_anywhere_cost_values_only() {
    let request = || Request { names: ["a", "b", "c"].map(Into::into).to_vec(), ..Request::default() };
    for own in [false, true] {
        for failing in ["open", "begin 0", "begin 1", "begin", "before 0", "before 1", "after 0", "after 1", "end"] {
            let agent = MemoryAgent::builder(0).build();
            let log = Log::new();
            let process = Process::new(
                Settings { request: request(), ..batch(1) },
                Arc::new(EveryKernel),
                Arc::new(ByPlan),
                log.clone(),
            );
            let counters: Arc<dyn Counters> = if own {
                let counters = InLine::default();
                *counters.failing.lock().unwrap() = Some(failing);
                Arc::new(counters)
            } else {
                let counters = Scripted::new();
                counters.fail(&[failing]);
                counters
            };
            let engine = Engine::new(agent.clone(), Some(counters), process).unwrap();
            let region = allocate(&agent, &engine, 4096);
            let word = || {
                agent.program_synchronise();
                agent.with_memory(|memory| memory.load(region.base))
            };
            let before = word();
            for key in [1, 2] {
                launch(&engine, &info(key), 0, &add(region, 1));
            }
            engine.close_window();
            assert_eq!(word(), before + 2, "{failing}");
            let records = log.take_dispatches();
            assert_eq!(records.len(), 2);
            for record in records {
                if failing == "open" {
                    let reason = Decline::CountersUnavailable;
                    assert!(matches!(record.outcome, Outcome::Declined { reason: why, .. } if why == reason));
                } else {
                    assert_eq!(record.outcome, Outcome::Replayed, "{failing}");
                    assert_eq!(record.divergence, None);
                    let told = |note: &String| note.contains("by order") || note.contains("lost");
                    assert!(record.notes.iter().any(told), "{failing}, own {own}: {:?}", record.notes);
                }
            }
        }
    }
}
