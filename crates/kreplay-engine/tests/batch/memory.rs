//! Memory that comes, goes and is written while a window records.

use crate::setup::{Setup, batch, setup};
use crate::support::{Scripted, add, allocate, info, launch, limits};
use kreplay_engine::conformance::{Kernel, MemoryRig, Rig, World};
use kreplay_engine::memory_agent::{Call, Fault, MemoryAgent};
use kreplay_engine::{
    BatchLimits, ClosingReason, Decline, DispatchInfo, Operation, Outcome, Range, Region, RegionKind, Request,
    Settings, Traits, Writers,
};
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
    for kind in [RegionKind::KernelArguments, RegionKind::Device] {
        let range = Range::new(setup.agent.program_allocate(64), 64);
        setup.engine.region_born(Region { range, kind, writers: Writers::Others });
        setup.launch(1);
        drop(setup.engine.region_retire(range.base).unwrap());
        setup.agent.program_free(range.base);
    }
    assert!(setup.engine.region_retire(0x10).is_none(), "nothing is there");
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.closings(), [(2, 0, ClosingReason::Freed), (1, 0, ClosingReason::Exit)]);
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
fn operations_take_room_where_something_lingers_and_every_launch_is_counted() {
    let limits = BatchLimits { dispatches: 6, ..limits() };
    let request = Request { names: vec!["waves".into(), "other".into()], ..Request::default() };
    for (every_launch, operations, expected) in [
        // The counters have room for six; two launches and what lies beside them.
        (true, 3, vec![(2, 4, ClosingReason::Full), (1, 0, ClosingReason::Exit)]),
        (true, 4, vec![(2, 4, ClosingReason::Full), (1, 0, ClosingReason::Exit)]),
        // No room for what lingers.
        (true, 5, vec![(2, 5, ClosingReason::Freed), (1, 0, ClosingReason::Exit)]),
        (false, 9, vec![(3, 11, ClosingReason::Exit)]),
    ] {
        let counters = if every_launch { Scripted::every_launch() } else { Scripted::new() };
        let setup = setup(Settings { batch: limits, request: request.clone(), ..batch(2) }, Some(counters));
        let freed = allocate(&setup.agent, &setup.engine, 64);
        let operate = || {
            let work = add(setup.region, 1);
            let guard =
                setup.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut || Some(work.clone()) });
            setup.agent.program_launch(0, &work);
            drop(guard);
        };
        setup.launch(1);
        setup.launch(1);
        (0..operations).for_each(|_| operate());
        match setup.engine.region_lingers(freed.base, Box::new(|| ())) {
            Ok(retired) => drop(retired),
            Err(_) => drop(setup.engine.region_retire(freed.base).expect("it is known")),
        }
        operate();
        operate();
        setup.launch(1);
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.closings(), expected, "{every_launch} {operations}");
        assert!(setup.log.take_dispatches().iter().all(|record| record.outcome == Outcome::Replayed));
    }
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
