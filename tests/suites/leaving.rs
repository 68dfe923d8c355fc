//! What a batch window recorded is there when the window closes: when the process ends, whoever registered its end first; when
//! the runtime is shut down before that; and when a queue or memory goes that a recorded launch may use.
#![forbid(unsafe_code)]

use kreplay_protocol::Outcome;
use kreplay_tests::{Profile, Profiled, binary, build, build_library, missing, part, plain, program, run, skipped};

/// Everything was replayed, and nothing differed.
fn is_well(profiled: &Profiled, dispatches: usize) {
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let rows = profiled.dispatches();
    assert_eq!(rows.len(), dispatches, "{:#?}", profiled.ended);
    let well = rows.iter().all(|row| row.outcome == Outcome::Replayed && row.divergence.is_none());
    assert!(well, "{rows:#?}\n{:#?}", profiled.ended);
}

fn batches() -> Profile {
    Profile::new().passes(3).window("batch")
}

#[test]
fn the_last_window_closes_before_libraries_take_their_kernels_away() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let (executable, library) = (build(&part("main"), "-O2"), build_library(&part("late"), "-O2"));
    let library = library.to_str().expect("a path in UTF-8");
    for way in ["before", "after", "closed"] {
        let expected = run(plain(&executable).args([library, way]));
        assert_eq!(expected.code(), 0, "{way}: {expected:#?}");
        let profiled = batches().run(&executable, [library, way]);
        assert_eq!(profiled.ended.stdout, expected.stdout, "{way}: {:#?}", profiled.ended);
        if way != "closed" {
            is_well(&profiled, 3);
            continue;
        }
        // Closed, it takes its code away with the loader held: its window is not replayed, and the next one is.
        let outcomes: Vec<bool> = profiled.dispatches().iter().map(|row| row.outcome == Outcome::Replayed).collect();
        assert_eq!((profiled.ended.code(), outcomes), (0, vec![false, false, false, true]), "{:#?}", profiled.ended);
    }
}

#[test]
fn a_window_is_not_replayed_when_a_library_that_is_closed_frees_what_it_uses() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let (executable, library) = (build(&part("main"), "-O2"), build_library(&part("holder"), "-O2"));
    let arguments = [library.to_str().expect("a path in UTF-8"), "holder"];
    let expected = run(plain(&executable).args(arguments));
    assert_eq!(expected.code(), 0, "{expected:#?}");
    let profiled = batches().run(&executable, arguments);
    assert_eq!(profiled.ended.stdout, expected.stdout, "{:#?}", profiled.ended);
    let outcomes: Vec<bool> = profiled.dispatches().iter().map(|row| row.outcome == Outcome::Replayed).collect();
    assert_eq!((profiled.ended.code(), outcomes), (0, vec![false, true]), "{:#?}", profiled.ended);
}

#[test]
fn a_runtime_that_is_shut_down_with_a_window_open_closes_it() {
    for way in ["shut-down", "drop"] {
        let profiled = batches().run(&binary("leaving"), [way]);
        assert_eq!(profiled.ended.stdout, "launch ok\nleft\n", "{way}: {:#?}", profiled.ended);
        is_well(&profiled, 1);
    }
}

#[test]
fn a_queue_ends_the_window_before_it_goes() {
    let profiled = batches().run(&binary("leaving"), ["queue"]);
    is_well(&profiled, 3);
    assert_eq!(profiled.closings(), ["freed", "unloaded"]);
}

/// A launch may reach it by a pointer in memory.
#[test]
fn memory_that_a_gpu_loses_access_to_ends_the_window_before_that() {
    let profiled = batches().run(&binary("leaving"), ["access"]);
    is_well(&profiled, 3);
    assert_eq!(profiled.closings(), ["unrecordable", "unloaded"]);
}

#[test]
fn memory_that_only_a_pointer_in_memory_leads_to_ends_the_window_before_it_goes() {
    if let Some(why) = missing() {
        return skipped(&why);
    }
    let executable = build(&program("host_behind_pointers"), "-O2");
    let expected = run(&mut plain(&executable));
    let profiled = batches().run(&executable, []);
    assert_eq!(profiled.ended.stdout, expected.stdout, "{:#?}", profiled.ended);
    is_well(&profiled, 3);
    assert_eq!(profiled.closings().iter().filter(|reason| *reason == "freed").count(), 2);
}
