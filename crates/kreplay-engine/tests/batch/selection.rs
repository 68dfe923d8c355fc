//! What goes into a window, and what of it is counted.

use crate::setup::{batch, setup};
use crate::support::{Scripted, add, info, limits, settings};
use kreplay_engine::{BatchLimits, ClosingReason, Decision, Outcome, Request, Settings, ShadowMode};

#[test]
fn dispatches_that_are_not_selected_are_recorded_but_not_counted() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    for key in [1, 2, 3, 4, 5] {
        setup.launch(key);
    }
    assert!(setup.log.take_dispatches().is_empty(), "the window still records");
    setup.engine.close_window();
    assert_eq!(setup.word(), before + 5);
    assert_eq!(setup.closings(), [(3, 2, ClosingReason::Unrecordable)]);
    assert_eq!(setup.agent.submissions(), 2 * 5, "two replays of the whole list");
    assert_eq!(setup.log.not_selected(), 2);
    let keys: Vec<u64> = setup.log.take_dispatches().iter().map(|record| record.kernel.key).collect();
    assert_eq!(keys, [1, 3, 5]);
}

#[test]
fn what_is_not_selected_is_described_only_while_a_window_records() {
    let setup = setup(batch(3), None);
    let before = setup.word();
    let kernel = info(2).kernel;
    let unselected = || {
        assert!(setup.engine.select(&kernel).is_none());
        match setup.engine.pass_by() {
            Some(guard) => {
                setup.agent.program_launch(0, &add(setup.region, 1));
                drop(guard);
                false
            }
            None => {
                let work = add(setup.region, 1);
                let decision = setup.engine.dispatch_unselected(&info(2), || Ok(work.clone()));
                assert!(matches!(decision, Decision::Recorded(_)));
                setup.agent.program_launch(0, &work);
                true
            }
        }
    };
    assert!(!unselected());
    setup.launch(1);
    assert!(unselected() && unselected());
    setup.engine.close_window();
    assert!(!unselected());
    assert_eq!(setup.closings(), [(1, 2, ClosingReason::Unrecordable)]);
    assert_eq!(setup.log.take_dispatches()[0].outcome, Outcome::Replayed);
    assert_eq!((setup.word(), setup.log.not_selected()), (before + 5, 4));
}

#[test]
fn launches_that_are_counted_unasked_take_room_and_end_a_window_when_many_follow() {
    let limits = BatchLimits { dispatches: 20, ..limits() };
    for (every_launch, keys, expected) in [
        // Ten of each kind fill it; what follows goes into the next.
        (true, [1, 2].repeat(12), vec![(10, 10, ClosingReason::Full), (2, 2, ClosingReason::Unrecordable)]),
        (false, [1, 2].repeat(12), vec![(12, 12, ClosingReason::Unrecordable)]),
        // The seventeenth in a row does not go in any more, and none opens one.
        (true, [vec![1], vec![2; 19]].concat(), vec![(1, 16, ClosingReason::Sparse)]),
        (false, [vec![1], vec![2; 19]].concat(), vec![(1, 19, ClosingReason::Unrecordable)]),
        // A selected one in time lets it go on.
        (true, [vec![1], vec![2; 16], vec![1]].concat(), vec![(2, 16, ClosingReason::Unrecordable)]),
    ] {
        let counters = if every_launch { Scripted::every_launch() } else { Scripted::new() };
        let request = Request { names: vec!["waves".into(), "other".into()], ..Request::default() };
        let setup = setup(Settings { batch: limits, request, ..batch(2) }, Some(counters));
        let before = setup.word();
        for key in &keys {
            setup.launch(*key);
        }
        setup.engine.close_window();
        assert_eq!(setup.closings(), expected, "{every_launch} {keys:?}");
        assert_eq!(setup.word(), before + keys.len() as u32);
        let records = setup.log.take_dispatches();
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed), "{records:?}");
    }
}

#[test]
fn a_trusted_shadow_is_stale_after_a_launch_that_was_passed_by() {
    let setup = setup(Settings { shadow: ShadowMode::Trusted, ..settings(3) }, None);
    let before = setup.word();
    // The first windows are audits, and one that is surprised ends the trust.
    for _ in 0..10 {
        setup.launch(1);
    }
    let guard = setup.engine.pass_by().expect("no window records");
    setup.agent.program_launch(0, &add(setup.region, 100));
    drop(guard);
    setup.launch(1);
    assert_eq!(setup.word(), before + 111);
}

#[test]
fn counters_that_need_fences_count_replays_only() {
    let counters = Scripted::new();
    let request = Request { names: vec!["a".into(), "b".into()], repeat: 1, dispatches: 1 };
    let setup = setup(Settings { request, ..batch(9) }, Some(counters.clone()));
    let before = setup.word();
    for key in [1, 2, 3] {
        setup.launch(key);
    }
    setup.engine.close_window();
    assert_eq!(setup.word(), before + 3);
    let pass = |index: u32| {
        let mut calls = vec![format!("begin {index}")];
        for dispatch in 0..2 {
            calls.extend([format!("before {dispatch}"), format!("after {dispatch}")]);
        }
        calls.push("end".into());
        calls
    };
    let mut expected = vec!["open 50".to_owned()];
    expected.extend(pass(0));
    expected.extend(pass(1));
    expected.push("collect".into());
    assert_eq!(counters.take(), expected);
    assert_eq!(setup.agent.submissions(), 2 * 3, "pass 0 is the program's; both passes of the plan are replays");
    let record = setup.log.last_dispatch();
    assert_eq!((record.passes_asked, record.passes_done), (2, 2));
    assert_eq!(setup.log.readings().len(), 2);
}
