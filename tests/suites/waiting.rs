//! Queues and copies that wait for signals: nothing overtakes them, nobody waits for them in vain, and what waits for other work only
//! is replayed all the same. And a queue that goes into error without being intercepted.
#![forbid(unsafe_code)]

use kreplay_protocol::Outcome;
use kreplay_store::DispatchRow;
use kreplay_tests::{Profile, Profiled, binary, missing, plain, run, skipped};

/// Kinds of windows and numbers of passes.
const WAYS: [(&str, u32); 5] = [("kernel", 1), ("kernel", 3), ("auto", 1), ("auto", 3), ("batch", 3)];

/// A run whose memory was right.
fn profiled(way: &str, (window, passes): (&str, u32), options: &[&str]) -> Profiled {
    let expected = run(plain(&binary("waiting")).arg(way));
    assert_eq!((expected.code(), expected.stdout.as_str()), (0, format!("{way} ok\n").as_str()), "{expected:#?}");
    let profile = Profile::new().passes(passes).window(window).options(options.iter().copied());
    let profiled = profile.run(&binary("waiting"), [way]);
    let ended = &profiled.ended;
    assert_eq!((ended.code(), &ended.stdout), (0, &expected.stdout), "{window} {passes}: {ended:#?}");
    let rows = profiled.dispatches();
    assert!(rows.iter().all(|row| row.divergence.is_none()), "{way} {window} {passes}: {rows:#?}");
    profiled
}

/// In as many passes as were asked for.
fn is_replayed(rows: &[DispatchRow]) -> bool {
    !rows.is_empty() && rows.iter().all(|row| matches!(row.outcome, Outcome::Replayed | Outcome::Counted))
}

/// Whether it is replayed depends on how long the host takes.
#[test]
fn a_kernel_does_not_overtake_a_barrier_that_another_thread_ends() {
    for way in WAYS {
        profiled("other-thread", way, &[]);
    }
}

/// Nobody can wait for the host within the call before which the host does nothing.
#[test]
fn a_kernel_whose_barrier_ends_after_its_launch_declines() {
    for way in WAYS {
        let rows = profiled("same-thread", way, &[]).dispatches();
        let reasons: Vec<_> = rows.iter().map(|row| row.reason.as_deref()).collect();
        assert_eq!(reasons, [Some("drain_timeout")], "{way:?}: {rows:#?}");
    }
}

/// The same where the kernel finds a window open.
#[test]
fn a_window_does_not_wait_for_the_host_in_vain() {
    for way in WAYS {
        let rows = profiled("in-line", way, &[]).dispatches();
        assert_eq!(rows.len(), 3, "{way:?}: {rows:#?}");
    }
}

#[test]
fn a_kernel_waits_for_another_queue_and_is_replayed() {
    for way in WAYS {
        let rows = profiled("ordered", way, &["--kernel", "smooth"]).dispatches();
        assert!(is_replayed(&rows), "{way:?}: {rows:#?}");
    }
}

/// Its place in a recording would be wrong.
#[test]
fn a_kernel_that_waits_for_a_later_launch_is_not_replayed() {
    for way in WAYS {
        let rows = profiled("overtaken", way, &[]).dispatches();
        let last = rows.iter().find(|row| row.kernel == "smooth").expect("it has a row");
        let declined = matches!(last.reason.as_deref(), Some("drain_timeout" | "pass_failed"));
        assert!(rows.len() == 3 && (declined || last.outcome == Outcome::Counted), "{way:?}: {rows:#?}");
    }
}

#[test]
fn a_barrier_with_nothing_behind_it_is_in_nobodys_way() {
    for way in WAYS {
        let rows = profiled("elsewhere", way, &[]).dispatches();
        assert!(is_replayed(&rows), "{way:?}: {rows:#?}");
    }
}

/// Their signals do not fall.
#[test]
fn copies_of_nothing_are_not_waited_for() {
    for way in WAYS {
        let rows = profiled("nothing", way, &[]).dispatches();
        assert!(is_replayed(&rows), "{way:?}: {rows:#?}");
    }
}

/// The runtime's thread, which would tell of the other copy's end, is in the handler.
#[test]
fn a_handler_that_waits_for_a_window_does_not_keep_copies_from_ending() {
    for way in WAYS {
        let rows = profiled("handler", way, &[]).dispatches();
        assert!(is_replayed(&rows) && rows.len() == 2, "{way:?}: {rows:#?}");
    }
}

/// Each barrier comes with its launch in one call of the handler.
#[test]
fn barriers_in_a_submission_with_their_launch_keep_their_places() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    for way in ["other-thread", "same-thread", "in-line", "ordered"] {
        for (window, passes) in WAYS {
            let profiled = Profile::new().passes(passes).window(window).run_bundled(&binary("waiting"), [way]);
            let ended = &profiled.ended;
            assert_eq!(
                (ended.code(), ended.stdout.as_str()),
                (0, format!("{way} ok\n").as_str()),
                "{window}: {ended:#?}"
            );
            let rows = profiled.dispatches();
            assert!(!rows.is_empty() && rows.iter().all(|row| row.divergence.is_none()), "{way} {window}: {rows:#?}");
        }
    }
}

/// The runtime tells the program, by a record that kreplay keeps for it.
#[test]
fn a_queue_that_is_not_intercepted_tells_the_program_of_its_error() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    // What is freed is overwritten.
    let profile = Profile::new().environment("BUNDLED_REFUSES", "1").environment("MALLOC_PERTURB_", "165");
    let profiled = profile.run_bundled(&binary("waiting"), ["error"]);
    assert_eq!((profiled.ended.code(), profiled.ended.stdout.as_str()), (0, "error ok\n"), "{:#?}", profiled.ended);
    assert!(profiled.dispatches().is_empty());
}
