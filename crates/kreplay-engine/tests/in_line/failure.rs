//! What fails costs values only.

use crate::setup::{counted, setup, setup_with};
use crate::support::{InLine, add, info, launch, limits};
use kreplay_engine::memory_agent::{Call, Fault};
use kreplay_engine::{BatchLimits, ByPlan, Decline, EveryKernel, Outcome, Settings, WindowKind};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_kernel_whose_fence_waited_in_vain_is_not_counted_again() {
    // Any wait is longer than no time, and none as long as for ever.
    for (pass_deadline, counted_again) in [(Duration::ZERO, false), (Duration::from_secs(3600), true)] {
        let setup = setup(Settings { pass_deadline, ..counted(&["a"]) });
        *setup.counters.failing.lock().unwrap() = Some("after 0");
        for key in [1, 2, 1] {
            setup.launch(&info(key));
        }
        setup.finish();
        let outcomes: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.outcome).collect();
        assert_eq!(outcomes[..2], [Outcome::Counted, Outcome::Counted], "the launch itself went by");
        let declined = matches!(outcomes[2], Outcome::Declined { reason: Decline::PassFailed, .. });
        assert_eq!(declined, !counted_again, "{outcomes:?}");
    }
}

#[test]
fn counters_that_give_up_when_a_window_ends_get_kernel_windows_from_the_next_launch_on() {
    let counters = InLine { gives_up: true, ..InLine::default() };
    let limits = BatchLimits { dispatches: 2, ..limits() };
    let settings = Settings { batch: limits, ..counted(&["a"]) };
    let setup = setup_with(settings, counters, Arc::new(EveryKernel), Arc::new(ByPlan));
    let before = setup.word();
    setup.launch(&info(1));
    setup.launch(&info(1));
    // It ends the window, which ends what it was to be counted by.
    launch(&setup.engine, &info(1), 0, &add(setup.region, 1)).expect("a kernel window");
    setup.finish();
    assert_eq!(setup.word(), before + 3);
    let kinds: Vec<_> = setup.log.windows().iter().map(|window| (window.kind, window.dispatches)).collect();
    assert_eq!(kinds, [(WindowKind::Batch, 2), (WindowKind::Kernel, 1)]);
    assert!(setup.log.take_dispatches().iter().all(|record| record.outcome == Outcome::Counted));
}

#[test]
fn what_is_lost_of_a_window_is_told_of_those_that_lost_it() {
    let counters = InLine { losing: vec![(1..3, "a hole"), (4..5, "a hole"), (5..6, "too full")], ..InLine::default() };
    let setup = setup_with(counted(&["a"]), counters, Arc::new(EveryKernel), Arc::new(ByPlan));
    for _ in 0..6 {
        setup.launch(&info(1));
    }
    setup.finish();
    let ids: Vec<_> = setup.log.take_dispatches().into_iter().map(|record| record.id).collect();
    let told = |at: usize, why: &str| (ids[at], format!("values are lost: {why}"));
    let expected = [told(1, "a hole"), told(2, "a hole"), told(4, "a hole"), told(5, "too full")];
    assert_eq!(setup.log.lost(), expected);
    let read = setup.log.readings().into_iter().filter(|(_, readings)| !readings.is_empty()).map(|(id, _)| id);
    assert_eq!(read.collect::<Vec<_>>(), [ids[0], ids[3]]);
}

#[test]
fn what_the_counters_cannot_do_costs_values_only() {
    for (failing, note, values) in [
        ("begin", "ran uncounted", 0),
        ("before 1", "values of a pass are lost", 0),
        ("after 0", "values of a pass are lost", 0),
        ("end", "values of a pass are lost", 0),
    ] {
        let setup = setup(counted(&["a"]));
        let before = setup.word();
        *setup.counters.failing.lock().unwrap() = Some(failing);
        for key in [1, 2] {
            setup.launch(&info(key));
        }
        setup.finish();
        assert_eq!(setup.word(), before + 2, "{failing}");
        let records = setup.log.take_dispatches();
        assert_eq!(records.len(), 2);
        for record in records {
            assert_eq!(record.outcome, Outcome::Counted, "{failing}");
            assert!(record.notes.iter().any(|text| text.contains(note)), "{failing}: {:?}", record.notes);
        }
        assert_eq!(setup.log.readings().iter().map(|(_, readings)| readings.len()).sum::<usize>(), values, "{failing}");
        assert_eq!(setup.counters.take().last().map(String::as_str), Some("abandon"), "{failing}");
    }
    let setup = setup(counted(&["a"]));
    let before = setup.word();
    *setup.counters.failing.lock().unwrap() = Some("open");
    setup.launch(&info(1));
    assert_eq!(setup.word(), before + 1);
    let reason = Decline::CountersUnavailable;
    assert!(matches!(setup.log.last_dispatch().outcome, Outcome::Declined { reason: found, .. } if found == reason));
}

#[test]
fn an_agent_that_does_not_become_idle_declines() {
    // When it opens: the launch runs as it is. When it closes: it has run, and its values are lost.
    for (launches, fault) in [(0, Fault::Fails), (0, Fault::Lost), (2, Fault::Denied), (2, Fault::Lost)] {
        let setup = setup(counted(&["a"]));
        let before = setup.word();
        for _ in 0..launches {
            setup.launch(&info(1));
        }
        setup.agent.fail_every(Some((Call::Drain, fault)));
        if launches == 0 {
            setup.launch(&info(1));
        }
        setup.engine.close_window();
        setup.agent.fail_every(None);
        let records = setup.log.take_dispatches();
        assert_eq!(records.len(), launches.max(1));
        let declined = |outcome: &Outcome| matches!(outcome, Outcome::Declined { .. });
        assert!(records.iter().all(|record| declined(&record.outcome)), "{records:?}");
        assert!(setup.log.readings().is_empty());
        assert_eq!(setup.word(), before + launches.max(1) as u32);
    }
}
