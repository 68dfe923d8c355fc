//! A kernel whose replay does not end.

use super::*;
use kreplay_engine::Decline;
use std::time::Duration;

/// Kernel, outcome and what was said, of the dispatches of a window that launches each of these once.
fn window(program: &Program, kernels: &[(Function, &'static str)], data: u64) -> Vec<(String, Outcome)> {
    for (function, name) in kernels {
        program.launch(*function, name, data, Stream::NULL, 0);
    }
    program.interceptor.context(program.context).driven().expect("an engine").engine.close_window();
    let records = std::mem::take(&mut *locked(&program.log.dispatches));
    records.into_iter().map(|record| (record.kernel.name.to_string(), record.outcome)).collect()
}

#[test]
fn only_the_kernel_that_does_not_end_is_refused() {
    // The last one is not selected.
    for slow in ["slow_second", "slow_boring"] {
        let settings =
            Settings { pass_deadline: Duration::from_millis(20), ..Program::settings(2, true, Request::default()) };
        let program = Program::made(settings, Arc::new(ByName("boring")), Box::new(|_| None));
        let data = program.allocate(4096);
        let kernels = ["slow_first", "slow_second", "slow_boring"].map(|name| (increment(name), name));
        for knows in [false, true] {
            fake::set_hanging(slow, Some(Stream::NULL.raw()));
            let outcomes = window(&program, &kernels, data);
            assert_eq!(outcomes.len(), 2);
            for (_, outcome) in outcomes {
                let Outcome::Declined { reason: Decline::PassFailed, detail } = outcome else { panic!("{outcome:?}") };
                assert_eq!(detail.contains(&format!("{slow} did not end")), knows, "{detail}");
            }
            fake::set_hanging(slow, None);
        }
        // It would hang again, but it is not replayed.
        fake::set_hanging(slow, Some(Stream::NULL.raw()));
        let before = fake::launches(slow);
        for (name, outcome) in window(&program, &kernels, data) {
            let refused = matches!(outcome, Outcome::Declined { reason: Decline::PassFailed, .. });
            assert!(refused == (name == slow) && (refused || outcome == Outcome::Replayed), "{name}: {outcome:?}");
        }
        assert_eq!(fake::launches(slow), before + 1, "only the program launches it");
        fake::set_hanging(slow, None);
    }
}
