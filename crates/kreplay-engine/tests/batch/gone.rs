//! What a window recorded may use, and what goes or changes while it is open.

use crate::setup::{batch, setup};
use crate::support::{add, info, launch};
use kreplay_engine::memory_agent::Work;
use kreplay_engine::{ClosingReason, Decline, Operation, Outcome, Range, Region, RegionKind, Writers};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const KINDS: [RegionKind; 4] = [
    RegionKind::Host { copyable: false },
    RegionKind::Managed { copyable: false },
    RegionKind::Imported,
    RegionKind::Untracked,
];

/// No argument points into such memory, but a pointer in memory may.
#[test]
fn memory_that_a_recorded_launch_may_reach_unseen_ends_the_window_before_it_goes() {
    for kind in KINDS {
        let setup = setup(batch(3), None);
        let before = setup.word();
        let range = Range::new(setup.agent.program_allocate(64), 64);
        setup.agent.with_memory(|memory| memory.store(range.base, 5));
        setup.engine.region_born(Region { range, kind: kind.clone(), writers: Writers::Others });
        let word = setup.region.base;
        // Adds what it finds there: the agent fails where nothing is allocated.
        let reads = Work::new(move |memory| {
            let sum = memory.load(word).wrapping_add(memory.load(range.base));
            memory.store(word, sum);
        });
        launch(&setup.engine, &info(1), 0, &reads);
        drop(setup.engine.region_retire(range.base).expect("it is known"));
        assert_eq!(setup.closings(), [(1, 0, ClosingReason::Freed)], "{kind:?}");
        setup.agent.program_free(range.base);
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.word(), before + 5);
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{kind:?}: {records:?}");
    }
}

/// A runtime locks and unlocks memory of the host around a copy.
#[test]
fn memory_that_came_after_the_last_launch_goes_without_closing_the_window() {
    for kind in KINDS {
        let setup = setup(batch(2), None);
        setup.launch(1);
        let range = Range::new(setup.agent.program_allocate(64), 64);
        setup.engine.region_born(Region { range, kind: kind.clone(), writers: Writers::Others });
        let work = add(setup.region, 1);
        let guard =
            setup.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut || Some(work.clone()) });
        setup.agent.program_launch(0, &work);
        drop(guard);
        drop(setup.engine.region_retire(range.base).expect("it is known"));
        setup.agent.program_free(range.base);
        assert_eq!(setup.closings(), [], "{kind:?}");
        // What this agent cannot reach at all.
        let range = Range::new(setup.agent.program_allocate(64), 64);
        setup.engine.region_born(Region { range, kind: kind.clone(), writers: Writers::Others });
        setup.launch(1);
        drop(setup.engine.region_retire_unreached(range.base).expect("it is known"));
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.closings(), [(2, 1, ClosingReason::Exit)], "{kind:?}");
    }
}

/// It counts as another region from then on, of which the window has no snapshot.
#[test]
fn memory_of_which_something_else_becomes_known_ends_the_window_that_puts_it_back() {
    let setup = setup(batch(3), None);
    let (before, range) = (setup.word(), setup.region);
    setup.launch(1);
    setup.engine.region_changed(Region { range, kind: RegionKind::Device, writers: Writers::Others });
    assert_eq!(setup.closings(), [(1, 0, ClosingReason::Unrecordable)]);
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.word(), before + 2);
    let records = setup.log.take_dispatches();
    let well =
        |record: &kreplay_engine::DispatchRecord| record.outcome == Outcome::Replayed && record.divergence.is_none();
    assert!(records.len() == 2 && records.iter().all(well), "{records:?}");
}

#[test]
fn what_goes_waits_while_another_thread_replays_what_uses_it() {
    let setup = setup(batch(2), None);
    let (runs, gone) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let (replaying, replays) = mpsc::channel();
    let work = {
        let (runs, gone) = (runs.clone(), gone.clone());
        Work::new(move |_| {
            if runs.fetch_add(1, Ordering::SeqCst) == 1 {
                replaying.send(()).unwrap();
                // Time for the other thread to show itself; a sound engine passes at any speed.
                std::thread::sleep(Duration::from_millis(30));
                assert!(!gone.load(Ordering::SeqCst), "it went while it was used");
            }
        })
    };
    launch(&setup.engine, &info(1), 0, &work);
    let (engine, flag) = (setup.engine.clone(), gone.clone());
    let other = std::thread::spawn(move || {
        replays.recv().unwrap();
        engine.end_recording(ClosingReason::Freed);
        flag.store(true, Ordering::SeqCst);
    });
    setup.engine.close_window();
    other.join().unwrap();
    assert_eq!((runs.load(Ordering::SeqCst), gone.load(Ordering::SeqCst)), (2, true));
    let records = setup.log.take_dispatches();
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{records:?}");
}

#[test]
fn a_recording_that_is_given_up_is_not_replayed() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    setup.engine.give_up_recording("nothing is open");
    setup.launch(1);
    let submitted = setup.agent.submissions();
    setup.engine.give_up_recording("its queue is gone");
    setup.engine.close_window();
    assert_eq!(setup.agent.submissions(), submitted);
    let record = setup.log.take_dispatches().pop().expect("a record");
    match record.outcome {
        Outcome::Declined { reason: Decline::PassFailed, detail } => assert_eq!(detail, "its queue is gone"),
        other => panic!("{other:?}"),
    }
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!((setup.word(), setup.closings()[1]), (before + 2, (1, 0, ClosingReason::Exit)));
}
