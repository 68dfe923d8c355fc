//! Invariant 5: shadow and pool never hold more than the last footprint.

use crate::setup::{modes, rig};
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{Decline, Outcome, RestoreMode, Settings};
use std::collections::VecDeque;

#[test]
fn invariant_5_shadow_and_pool_never_hold_more_than_the_last_footprint() {
    for device_reserve in [0, u64::MAX] {
        for settings in modes() {
            let rig = MemoryRig::of(MemoryAgent::builder(0).build());
            let agent = rig.agent();
            let mut world = World::new(&rig, Settings { device_reserve, ..settings });
            let mut live = VecDeque::new();
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

#[test]
fn invariant_5_retained_storage_is_reused() {
    let rig = rig();
    let agent = rig.agent();
    let full = Settings { restore: RestoreMode::Full, ..Settings::default() };
    let mut world = World::new(&rig, Settings { device_reserve: u64::MAX, uncounted_passes: 2, ..full });
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
