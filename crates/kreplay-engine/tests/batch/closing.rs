//! What closes a window.

use crate::setup::{Setup, batch, setup};
use crate::support::{add, allocate, info, limits};
use kreplay_engine::{
    BatchLimits, ClosingReason, Decision, Decline, DispatchInfo, Operation, Outcome, Settings, Traits,
};
use std::time::{Duration, Instant};

#[test]
fn every_limit_closes_a_window() {
    for (limits, reason) in [
        (BatchLimits { dispatches: 2, ..limits() }, ClosingReason::Full),
        (BatchLimits { entries: 2, ..limits() }, ClosingReason::Full),
        (BatchLimits { time: Duration::ZERO, ..limits() }, ClosingReason::Time),
        (BatchLimits { bytes: 0, ..limits() }, ClosingReason::Bytes),
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

/// A memory operation of the program for which so many bytes are kept. Returns whether it was recorded.
fn operate(setup: &Setup, bytes: u64) -> bool {
    let (work, mut recorded) = (add(setup.region, 1), false);
    let mut record = || {
        recorded = true;
        Some(work.clone())
    };
    let guard = setup.engine.memory_operation(Operation::Repeatable { bytes, record: &mut record });
    setup.agent.program_launch(0, &work);
    drop(guard);
    recorded
}

#[test]
fn every_limit_closes_a_window_at_a_memory_operation() {
    for (limits, launches, operations, reason) in [
        (BatchLimits { dispatches: 2, ..limits() }, 2, 0, ClosingReason::Full),
        (BatchLimits { entries: 3, ..limits() }, 1, 2, ClosingReason::Full),
        (BatchLimits { time: Duration::ZERO, ..limits() }, 1, 0, ClosingReason::Time),
        (BatchLimits { bytes: 100, ..limits() }, 1, 2, ClosingReason::Bytes),
    ] {
        let setup = setup(Settings { batch: limits, ..batch(2) }, None);
        let before = setup.word();
        (0..launches).for_each(|_| setup.launch(1));
        // Two of 50 bytes fit into 100. What comes when the window is full is not even saved.
        let recorded = (0..operations + 1).filter(|_| operate(&setup, 50)).count();
        assert_eq!(recorded, operations as usize, "{reason:?}");
        assert_eq!(setup.closings(), [(launches, operations, reason)]);
        assert!(!operate(&setup, 50), "no window is open");
        setup.engine.finish(Instant::now() + Duration::from_secs(20));
        assert_eq!(setup.word(), before + launches + operations + 2, "{reason:?}");
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{reason:?}: {records:?}");
    }
}

#[test]
fn a_memory_operation_larger_than_a_window_closes_it_and_is_not_saved() {
    let setup = setup(Settings { batch: BatchLimits { bytes: 100, ..limits() }, ..batch(2) }, None);
    for bytes in [101, u64::MAX] {
        setup.launch(1);
        assert!(!operate(&setup, bytes));
        assert_eq!(setup.closings().last(), Some(&(1, 0, ClosingReason::Bytes)));
        setup.launch(1);
        assert!(operate(&setup, 100), "the next window takes what fits");
        setup.engine.close_window();
        assert_eq!(setup.closings().last(), Some(&(1, 1, ClosingReason::Unrecordable)));
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
    let special =
        DispatchInfo { traits: Traits { decline: Some(Decline::GraphLaunch), ..Traits::default() }, ..info(1) };
    assert!(matches!(setup.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    setup.launch(1);
    assert!(matches!(setup.engine.dispatch(&info(1), || Err(Decline::UnknownArguments)), Decision::Run(_)));
    setup.launch(1);
    // Not selected, and not to be replayed.
    let special = DispatchInfo { traits: Traits { collective: true, ..Traits::default() }, ..info(2) };
    assert!(matches!(setup.engine.dispatch(&special, || panic!("not recorded")), Decision::Run(_)));
    // Memory that cannot be put back, a capture, memory that the program needs.
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Foreign));
    setup.launch(1);
    setup.engine.close_window_for(ClosingReason::Capture);
    setup.launch(1);
    assert!(setup.engine.release_idle() > 0);
    use ClosingReason::{Capture, Foreign, Freed, Launch, Memory, Unloaded, Unrecordable};
    let reasons = [Unrecordable, Freed, Unloaded, Launch, Launch, Launch, Foreign, Capture, Memory];
    assert_eq!(setup.closings(), reasons.map(|reason| (1, 0, reason)));
    // Reading closes nothing; a repeatable operation is recorded; one that turns out not to be is not.
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Reads));
    let work = add(setup.region, 0);
    drop(setup.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut || Some(work.clone()) }));
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut || None }));
    assert_eq!(setup.closings()[reasons.len()..], [(2, 1, ClosingReason::Unrecordable)]);
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.closings().last(), Some(&(1, 0, ClosingReason::Exit)));
    assert_eq!(setup.word(), before + 12);
    assert_eq!((setup.agent.usage().device, setup.agent.usage().host), (0, 0));
}
