//! Memory that comes, goes and is written while a window records.

use crate::setup::{Setup, batch, setup};
use crate::support::{add, allocate, info, launch};
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{ClosingReason, Decline, DispatchInfo, Outcome, Range, Region, RegionKind, Traits, Writers};
use std::time::{Duration, Instant};

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
    assert_eq!(setup.closings(), [(3, 0, ClosingReason::Freed), (1, 0, ClosingReason::Exit)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}

#[test]
fn a_window_whose_freed_memory_may_be_gone_is_not_replayed() {
    let rig = MemoryRig::of(MemoryAgent::builder(0).build());
    let agent = rig.agent();
    let mut world = World::new(&rig, batch(3));
    let pool = world.pool(1024);
    world.allocate_within(pool);
    world.launch(&Kernel::Fill { to: pool, value: 1 });
    world.close_window();
    for give_back in [true, false] {
        world.launch(&Kernel::Add { at: pool, value: 1 });
        if give_back {
            world.give_back(pool, || ());
            world.allocate_within(pool);
        }
        let submitted = agent.submissions();
        agent.fail_every(Some((Call::Kept, Fault::Fails)));
        world.close_window();
        agent.fail_every(None);
        world.check("nothing was replayed");
        assert_eq!(agent.submissions(), submitted, "nothing of the list ran again");
        let outcome = world.record().outcome;
        assert!(matches!(outcome, Outcome::Declined { reason: Decline::PassFailed, .. }), "{outcome:?}");
    }
    world.launch(&Kernel::Add { at: pool, value: 1 });
    world.close_window();
    world.check("the next window");
    assert_eq!(world.record().outcome, Outcome::Replayed);
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
    let own = DispatchInfo { traits: Traits { own_window: true, ..Traits::default() }, ..info(3) };
    launch(&setup.engine, &own, 0, &add(host, 2)).expect("a kernel window");
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.agent.with_memory(|memory| memory.load(host.base)), 42);
    assert_eq!(setup.closings(), [(2, 0, ClosingReason::Launch), (1, 0, ClosingReason::Done)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.divergence.is_none()));
}
