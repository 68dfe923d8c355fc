//! What closes a window.

use crate::setup::{batch, setup};
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
    drop(setup.engine.memory_operation(Operation::Repeatable(&mut || Some(work.clone()))));
    setup.launch(1);
    drop(setup.engine.memory_operation(Operation::Repeatable(&mut || None)));
    assert_eq!(setup.closings()[reasons.len()..], [(2, 1, ClosingReason::Unrecordable)]);
    setup.launch(1);
    setup.engine.finish(Instant::now() + Duration::from_secs(20));
    assert_eq!(setup.closings().last(), Some(&(1, 0, ClosingReason::Exit)));
    assert_eq!(setup.word(), before + 12);
    assert_eq!((setup.agent.usage().device, setup.agent.usage().host), (0, 0));
}
