//! The invariants that hold after any window, each from outside, on the software GPU. Invariants 8 and 9 are in the suites
//! `death` and `command`.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use kreplay_protocol::{Bytes, Outcome};
use kreplay_store::Reader;
use kreplay_tests::{Profile, binary, build, missing, plain, program, run, skipped};

/// The executable of a HIP test program, or nothing where HIP programs cannot be built.
fn hip(name: &str) -> Option<PathBuf> {
    if let Some(why) = missing() {
        skipped(&why);
        return None;
    }
    Some(build(&program(name), "-O2"))
}

#[test]
fn invariant_1_memory_is_what_an_unprofiled_run_leaves() {
    let modes: [&[&str]; 6] = [
        &["--restore", "full"],
        &["--verify", "off"],
        &["--verify", "all"],
        &["--shadow", "trusted"],
        &["--reach", "args", "--window", "kernel"],
        &["--chunk", "256"],
    ];
    for name in ["accumulating", "pointers", "module_variables", "copies", "many_allocations"] {
        let Some(executable) = hip(name) else { return };
        let expected = run(&mut plain(&executable));
        for mode in modes {
            let profiled = Profile::new().passes(3).options(mode.iter().copied()).run(&executable, []);
            assert_eq!(profiled.ended.code(), 0, "{name} {mode:?}: {:#?}", profiled.ended);
            assert_eq!(profiled.ended.stdout, expected.stdout, "{name} {mode:?}");
        }
    }
}

#[test]
fn invariant_1_what_another_writer_put_there_between_windows_stays() {
    for (window, arguments) in
        [("kernel", ["3", "80", "21"].as_slice()), ("batch", &["4", "15", "21", "batch", "ForeignBetween"])]
    {
        let profile = Profile::new().passes(3).window(window);
        let profiled = profile.run(&binary("misbehaving"), arguments.iter().copied());
        let lines: Vec<&str> = profiled.ended.stdout.lines().filter(|line| line.contains("ForeignBetween")).collect();
        assert!(lines.len() > 3 && lines.iter().all(|line| line.ends_with(" memory ok")), "{:#?}", profiled.ended);
    }
}

#[test]
fn invariant_2_one_completion_and_no_output_of_ours() {
    // The program checks that each of its signals went from 1 to 0, and prints nothing else.
    let steady = Profile::new().passes(5).run(&binary("steady"), ["10"]);
    assert_eq!(steady.ended.code(), 0, "{:#?}", steady.ended);
    let lines: Vec<&str> = steady.ended.stdout.lines().skip(1).collect();
    assert_eq!(lines, (0..10).map(|launch| format!("launch {launch} ok")).collect::<Vec<_>>());
    assert_eq!(steady.ended.stderr, "", "--quiet leaves standard error to the program");
    // One record each, under one number.
    let rows = steady.dispatches();
    let numbers: BTreeSet<u64> = rows.iter().map(|row| row.number).collect();
    assert_eq!((rows.len(), numbers.len()), (10, 10));
    // Host callbacks, events and waits across streams.
    let Some(events) = hip("events") else { return };
    let expected = run(&mut plain(&events));
    let profiled = Profile::new().passes(3).run(&events, []);
    assert_eq!((profiled.ended.code(), &profiled.ended.stdout), (0, &expected.stdout));
}

#[test]
fn invariant_3_a_pass_from_other_memory_is_reported() {
    let steady = binary("steady");
    let kept = Profile::new().passes(3).run(&steady, ["8"]);
    assert!(kept.dispatches().iter().all(|row| row.divergence.is_none()), "{:#?}", kept.dispatches());
    let lost = Profile::new().passes(3).without_restore().run(&steady, ["8"]);
    let rows = lost.dispatches();
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().all(|row| row.divergence.is_some()), "{rows:#?}");
}

#[test]
fn invariant_4_a_snapshot_is_whole_or_the_dispatch_declines() {
    // Each allocation of device memory fails once: the program's own, then kreplay's.
    for nth in 1..=20 {
        let fault = format!("alloc-fail:n={nth},pool=vram");
        let profiled = Profile::new().passes(3).environment("SOFTGPU_FAULT", fault).run(&binary("steady"), ["3"]);
        let ended = &profiled.ended;
        let own = ended.code() == 1 && ended.stderr.contains("failed with status");
        assert!(own || (ended.code() == 0 && ended.stdout.ends_with("launch 2 ok\n")), "allocation {nth}: {ended:#?}");
        for row in profiled.dispatches() {
            assert!(row.divergence.is_none() && (row.outcome == Outcome::Replayed || row.reason.is_some()), "{row:#?}");
        }
    }
    let expected = run(&mut plain(&binary("demo"))).stdout;
    // Room for the program, none for a shadow on the device: host staging holds it, or the dispatch declines.
    for (budget, outcome) in [("64", Outcome::Replayed), ("1", Outcome::Declined)] {
        let small = Profile::new().passes(3).window("kernel").options(["--host-budget", budget]);
        let profiled = small.environment("SOFTGPU_MEMORY_MIB", "8").run(&binary("demo"), []);
        assert_eq!((profiled.ended.code(), &profiled.ended.stdout), (0, &expected), "{:#?}", profiled.ended);
        for row in profiled.dispatches() {
            assert_eq!(row.outcome, outcome, "{row:#?}");
            if outcome == Outcome::Replayed {
                assert!(row.bytes.staging_high_water > 0 && row.divergence.is_none(), "{row:#?}");
            } else {
                assert_eq!(row.reason.as_deref(), Some("no_backing"), "{row:#?}");
            }
        }
    }
}

#[test]
fn invariant_4_nothing_is_restored_into_another_generation() {
    let Some(executable) = hip("many_allocations") else { return };
    let expected = run(&mut plain(&executable));
    for shadow in ["safe", "trusted"] {
        let profiled = Profile::new().passes(3).options(["--shadow", shadow]).run(&executable, []);
        assert_eq!((profiled.ended.code(), &profiled.ended.stdout), (0, &expected.stdout), "{shadow}");
    }
}

#[test]
fn invariant_5_no_more_than_the_footprint_is_held() {
    let Some(executable) = hip("many_allocations") else { return };
    for restore in ["observed", "full"] {
        let profile = Profile::new().passes(3).window("kernel").options(["--restore", restore]);
        let profiled = profile.run(&executable, []);
        let rows = profiled.dispatches();
        assert!(!rows.is_empty());
        for row in rows {
            let held = row.bytes.device_held;
            // Buffers are allocated in whole pages and at most twice the request.
            assert!(held > 0 && held <= 2 * row.bytes.footprint + (1 << 20), "{restore}: {held} of {:#?}", row.bytes);
        }
    }
    // A batch window also holds what the program's own run left.
    let profiled = Profile::new().passes(3).window("batch").run(&executable, []);
    let windows = Reader::open(&profiled.file).and_then(|reader| reader.windows());
    let windows = windows.unwrap_or_else(|error| panic!("{error}"));
    assert!(!windows.is_empty());
    for window in windows {
        let Bytes { device_held: held, footprint, write_set, .. } = window.bytes;
        assert!(held <= 2 * (footprint + write_set) + (1 << 20), "batch: {held} of {:#?}", window.bytes);
    }
}

#[test]
fn invariant_6_no_deadline_kills_the_program() {
    // In a kernel window passes 0 and 1 are kreplay's own, pass 2 is the program's. A kernel that hangs beside keeps the
    // drain from ending.
    let cases: [(&str, &[&str], &str, &str); 6] = [
        ("kernel", &["6", "spin:n=1"], "0", "pass_failed"),
        ("kernel", &["6", "spin:n=2"], "0", "pass_failed"),
        // Not selected, so that it is the program's own launch that hangs.
        ("kernel", &["6", "spin:n=1", "beside"], "3", "drain_timeout"),
        // The third launch ends the first batch window: before it runs, two launches are replayed three times.
        ("batch", &["6", "spin:n=1"], "0", "pass_failed"),
        ("batch", &["6", "spin:n=6"], "0", "pass_failed"),
        ("batch", &["6", "spin:n=1", "beside"], "3", "drain_timeout"),
    ];
    for (window, arguments, skip, reason) in cases {
        let mut profile = Profile::new().passes(3).window(window);
        if window == "batch" {
            profile = profile.options(["--window-kernels", "2"]);
        }
        let profile = profile.options(["--pass-deadline", "1000", "--drain-deadline", "1000"]);
        let profiled = profile.options(["--skip", skip]).run(&binary("steady"), arguments.iter().copied());
        assert_eq!(profiled.ended.code(), 0, "{arguments:?}: {:#?}", profiled.ended);
        assert_eq!(profiled.ended.stdout.matches(" ok\n").count(), 6, "{arguments:?}: {:#?}", profiled.ended);
        let rows = profiled.dispatches();
        assert!(rows.iter().any(|row| row.reason.as_deref() == Some(reason)), "{arguments:?}: {rows:#?}");
    }
}

#[test]
fn invariant_7_what_is_not_selected_is_not_snapshotted() {
    let profiled = Profile::new().passes(3).options(["--exclude", "."]).run(&binary("steady"), ["12"]);
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    assert!(profiled.dispatches().iter().all(|row| row.outcome == Outcome::NotSelected && row.bytes.footprint == 0));
    let reader = Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}"));
    let processes = reader.processes().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(processes.iter().filter_map(|process| process.not_selected).sum::<u64>(), 12);
    assert!(reader.windows().unwrap_or_else(|error| panic!("{error}")).is_empty(), "a window was opened");
}
