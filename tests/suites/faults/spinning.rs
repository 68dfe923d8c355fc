//! Replays that do not get on: only the kernel that spins is left out from then on.

use kreplay_protocol::Outcome;
use kreplay_tests::{Profile, binary};

/// Three launches a window, of two kernels. The first deadline shows that one of them does not end, the second one which; from
/// then on the other is replayed.
fn only_one_is_refused(slow: &str, options: &[&str]) {
    let profile =
        Profile::new().passes(2).window("batch").options(["--pass-deadline", "2000", "--drain-deadline", "2000"]);
    let profiled = profile.options(options.iter().copied()).run(&binary("spinning"), ["4", slow]);
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let lines: Vec<&str> = profiled.ended.stdout.lines().collect();
    assert!(lines.len() == 4 && lines.iter().all(|line| line.ends_with(" memory ok")), "{lines:?}");
    let rows = profiled.dispatches();
    assert_eq!(rows.len() % 4, 0);
    for (place, row) in rows.iter().enumerate() {
        let known = place * 4 / rows.len() >= 2;
        if known && !row.kernel.contains(slow) {
            assert_eq!(row.outcome, Outcome::Replayed, "{row:#?}");
        } else {
            assert_eq!(row.reason.as_deref(), Some("pass_failed"), "{row:#?}");
        }
    }
}

#[test]
fn a_kernel_that_spins_in_batch_windows_is_found() {
    only_one_is_refused("smooth", &[]);
}

#[test]
fn a_kernel_that_spins_and_is_not_selected_is_found() {
    only_one_is_refused("smooth", &["--exclude", "smooth"]);
}

#[test]
fn a_kernel_that_spins_and_is_launched_twice_is_found() {
    only_one_is_refused("advance", &[]);
}
