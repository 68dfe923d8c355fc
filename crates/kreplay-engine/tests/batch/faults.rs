//! One fault at each call of a window, and two.

use crate::setup::batch;
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Fault, MemoryAgent};
use kreplay_engine::{Chunk, Decline, Outcome, Range, Settings, ShadowMode, VerifyMode};
use std::collections::BTreeSet;

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::FailsLater, Fault::Denied, Fault::Lost];

/// Windows of a trusted shadow before the last that is audited.
const BELIEVED: u32 = 7;

/// A window of launches and operations with faults at calls counted from its opening, in order. Whether the last was reached.
/// Before it are so many windows, and one.
fn faulty(settings: &Settings, before: u32, faults: &[(u64, Fault)]) -> (bool, Vec<Outcome>) {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, settings.clone());
    let (a, b) = (world.allocate(900), world.allocate(512));
    let pool = world.pool(1200);
    let (first, across) = (Range::new(pool.base, 600), Range::new(pool.base + 300, 800));
    world.allocate_within(first);
    for _ in 0..before {
        world.launch(&Kernel::Add { at: b, value: 1 });
        world.close_window();
    }
    world.launch(&Kernel::Fill { to: first, value: 4 });
    world.launch(&Kernel::Add { at: b, value: 1 });
    world.close_window();
    world.log.take_dispatches();
    agent.restart_count();
    faults.iter().for_each(|(number, fault)| agent.fail_also_at(*number, *fault));
    world.launch(&Kernel::Add { at: a, value: 3 });
    world.operate(&Kernel::Fill { to: Range::new(b.base, 64), value: 9 });
    let c = world.allocate(300);
    world.launch(&Kernel::Accumulate { from: Range::new(a.base, 800), to: b.base });
    world.launch(&Kernel::Add { at: c, value: 1 });
    world.launch(&Kernel::Add { at: first, value: 2 });
    world.give_back(first, || ());
    world.allocate_within(across);
    world.operate(&Kernel::Fill { to: across, value: 8 });
    world.launch(&Kernel::Add { at: across, value: 2 });
    world.close_window();
    let calls = agent.calls();
    let reached = faults.iter().all(|(number, _)| calls.len() as u64 > *number);
    agent.restart_count();
    let outcomes: Vec<Outcome> = world.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes.len(), 5);
    // What memory holds is not known then, and that is told.
    let lost = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Declined { reason: Decline::AgentLost, .. }));
    assert!(!lost || faults.len() > 2 || faults[0].1 == Fault::Lost, "{faults:?}: {outcomes:?}");
    let gone = reached && faults.iter().any(|(_, fault)| *fault == Fault::Lost);
    if !(lost || gone) {
        world.check(&format!("{faults:?} of {calls:?} with {settings:?}: {outcomes:?}"));
        world.launch(&Kernel::Add { at: b, value: 1 });
        world.launch(&Kernel::Add { at: across, value: 1 });
        world.close_window();
        world.check(&format!("the window after {faults:?} with {settings:?}"));
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
                // While a trusted shadow is audited, and when it is believed.
                let before: &[u32] = if shadow == ShadowMode::Trusted { &[0, BELIEVED] } else { &[0] };
                for (before, fault) in before.iter().flat_map(|before| FAULTS.map(|fault| (*before, fault))) {
                    for number in 0.. {
                        let (reached, outcomes) = faulty(&settings, before, &[(number, fault)]);
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

/// While memory is put back after a failure, something fails again: at once, or as the device comes to it.
#[test]
fn whatever_fails_after_a_failure_in_a_batch_window_memory_is_what_one_run_leaves() {
    let mut pairs = 0;
    for shadow in [ShadowMode::Safe, ShadowMode::Trusted] {
        let settings = Settings { shadow, verify: VerifyMode::Off, chunk: Chunk::new(256).unwrap(), ..batch(2) };
        let before = if shadow == ShadowMode::Trusted { BELIEVED } else { 0 };
        for faults in [[Fault::Fails, Fault::FailsLater], [Fault::FailsLater; 2], [Fault::FailsLater, Fault::Fails]] {
            let mut first = 0;
            while faulty(&settings, before, &[(first, faults[0])]).0 {
                let both = |second| [(first, faults[0]), (second, faults[1])];
                pairs += (first + 1..).take_while(|second| faulty(&settings, before, &both(*second)).0).count();
                first += 1;
            }
        }
    }
    assert!(pairs > 500, "only {pairs} pairs of faults");
}

/// Where it fails again and again memory may not be what one run leaves, but then that is told.
#[test]
fn an_agent_on_which_nothing_can_be_put_back_is_told_of_as_lost() {
    let mut outcomes = BTreeSet::new();
    let settings = Settings { chunk: Chunk::new(256).unwrap(), ..batch(2) };
    for fault in [Fault::Fails, Fault::FailsLater] {
        for in_a_row in [3, 4, 6] {
            for first in 0.. {
                let faults: Vec<_> = (first..first + in_a_row).map(|number| (number, fault)).collect();
                let (reached, found) = faulty(&settings, 0, &faults);
                if !reached && first > 60 {
                    break;
                }
                outcomes.extend(found.into_iter().map(|outcome| match outcome {
                    Outcome::Declined { reason, .. } => reason.name(),
                    _ => "replayed",
                }));
            }
        }
    }
    for seen in ["replayed", "pass_failed", "agent_lost"] {
        assert!(outcomes.contains(seen), "{seen} was never seen in {outcomes:?}");
    }
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
