//! What a failure of the counters costs.

use crate::setup::bench;
use crate::support::Scripted;
use kreplay_engine::memory_agent::{Call, Fault};
use kreplay_engine::{ByPlan, Decline, Outcome};
use std::sync::Arc;

#[test]
fn counters_that_cannot_open_decline() {
    let bench = bench(&["a", "b"], Arc::new(ByPlan), Scripted::new());
    bench.counters.fail(&["open"]);
    assert_eq!(bench.launch(), 1);
    let record = bench.log.last_dispatch();
    assert!(matches!(record.outcome, Outcome::Declined { reason: Decline::CountersUnavailable, .. }));
    assert_eq!(bench.counters.take(), ["open 1"], "nothing is open, so nothing is abandoned");
    bench.counters.fail(&[]);
    assert_eq!(bench.launch(), 1);
    assert_eq!(bench.log.last_dispatch().outcome, Outcome::Replayed);
    assert_eq!(bench.log.warnings(), ["counters_unavailable"]);
}

#[test]
fn a_failure_of_the_counters_costs_values_and_nothing_else() {
    for (failing, collects) in [
        (vec!["begin 1"], true),
        (vec!["begin"], false),
        (vec!["before"], false),
        (vec!["after"], false),
        (vec!["end"], false),
    ] {
        let bench = bench(&["a", "b", "c"], Arc::new(ByPlan), Scripted::new());
        bench.counters.fail(&failing);
        assert_eq!(bench.launch(), 1, "{failing:?}");
        let record = bench.log.last_dispatch();
        assert_eq!((record.outcome, record.passes_done), (Outcome::Replayed, 3), "{failing:?}");
        assert!(!record.notes.is_empty(), "{failing:?}");
        let calls = bench.counters.take();
        assert_eq!(calls.last().unwrap(), if collects { "collect" } else { "abandon" }, "{failing:?}: {calls:?}");
        let begun = calls.iter().filter(|call| call.starts_with("begin")).count();
        let ended = calls.iter().filter(|call| *call == "end").count();
        let failed = if failing[0].starts_with("begin") { if collects { 1 } else { 3 } } else { 0 };
        assert_eq!(ended, begun - failed, "{failing:?}: every pass that began ends");
    }
}

#[test]
fn a_window_that_fails_abandons_its_counters() {
    let bench = bench(&["a", "b"], Arc::new(ByPlan), Scripted::new());
    bench.agent.fail_every(Some((Call::Submit, Fault::Fails)));
    assert_eq!(bench.launch(), 1);
    bench.agent.fail_every(None);
    assert!(matches!(bench.log.last_dispatch().outcome, Outcome::Declined { reason: Decline::PassFailed, .. }));
    let calls = bench.counters.take();
    assert_eq!(calls.iter().filter(|call| *call == "abandon").count(), 1, "{calls:?}");
    assert!(!calls.contains(&"collect".to_owned()));
}
