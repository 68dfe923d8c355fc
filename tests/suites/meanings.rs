//! What an address or a handle means changes while a batch window is open: it ends before, and is replayed with what its launches
//! found. Debian's runtime has neither such mappings nor images; a library between it and kreplay has them, on the host's memory,
//! which the software GPU shares. Nothing can be reached where nothing is mapped: a replay that tries to ends the program.
#![forbid(unsafe_code)]

use kreplay_protocol::Outcome;
use kreplay_tests::{Profile, Profiled, build, build_library, missing, part, plain, run, skipped};

/// Runs a case, whose windows are closed by these; each of its dispatches is replayed, and nothing differs.
fn case(name: &str, closings: &[&str]) {
    let Some(profiled) = profiled(name) else { return };
    assert_eq!(profiled.closings(), closings, "{name}");
}

/// A case that went well.
fn profiled(name: &str) -> Option<Profiled> {
    let profiled = run_case(name, "batch")?;
    let rows = profiled.dispatches();
    let well = rows.iter().all(|row| row.outcome == Outcome::Replayed);
    assert!(well && !rows.is_empty(), "{name}: {rows:#?}\n{:#?}", profiled.ended);
    Some(profiled)
}

/// What becomes of each dispatch of a case: why it declined, or nothing where it was replayed.
fn outcomes(name: &str, window: &str, expected: &[&str]) {
    let Some(profiled) = run_case(name, window) else { return };
    let rows = profiled.dispatches();
    let reasons: Vec<&str> = rows.iter().map(|row| row.reason.as_deref().unwrap_or_default()).collect();
    assert_eq!(reasons, expected, "{name}: {rows:#?}");
    assert!(rows.iter().all(|row| (row.outcome == Outcome::Replayed) == row.reason.is_none()), "{name}: {rows:#?}");
}

/// A case whose results are those of a plain run, and whose passes do not differ.
fn run_case(name: &str, window: &str) -> Option<Profiled> {
    if let Some(why) = missing() {
        skipped(&why);
        return None;
    }
    let (executable, library) = (build(&part("mappings"), "-O2"), build_library(&part("newer"), "-O2"));
    let library = library.to_str().expect("a path in UTF-8");
    let pages_in = if name.starts_with("process") { "1" } else { "0" };
    let expected = run(plain(&executable).env("HSA_XNACK", pages_in).args([library, name]));
    assert_eq!(expected.code(), 0, "{name}: {expected:#?}");
    let profile = Profile::new().environment("HSA_XNACK", pages_in).passes(3);
    let profiled = profile.window(window).run(&executable, [library, name]);
    assert_eq!(profiled.ended.code(), 0, "{name}: {:#?}", profiled.ended);
    assert_eq!(profiled.ended.stdout, expected.stdout, "{name}: {:#?}", profiled.ended);
    let rows = profiled.dispatches();
    assert!(rows.iter().all(|row| row.divergence.is_none()), "{name}: {rows:#?}\n{:#?}", profiled.ended);
    Some(profiled)
}

#[test]
fn the_call_that_ended_a_window_is_told() {
    let Some(profiled) = profiled("sampler") else { return };
    assert_eq!(profiled.closed_by(), ["freed (hsa_ext_sampler_destroy)", "exit"]);
}

#[test]
fn an_address_that_is_mapped_anew() {
    case("remapped", &["freed", "freed", "freed"]);
    // Access that is given to a mapping that came within the window changes what the window knows of it.
    case("within", &["unrecordable", "freed", "freed", "freed"]);
}

/// A mapping that the GPU may not reach is in no window either.
#[test]
fn access_to_a_mapping() {
    case("access", &["unrecordable", "unrecordable", "freed"]);
}

#[test]
fn attributes_of_memory() {
    case("attributes", &["unrecordable", "freed"]);
}

/// It goes without a call, so until then each launch has a window of its own.
#[test]
fn managed_memory_that_is_unmapped() {
    case("managed", &["done", "exit"]);
}

#[test]
fn images_and_samplers_that_are_destroyed() {
    for name in ["image", "sampler"] {
        case(name, &["freed", "exit"]);
    }
}

#[test]
fn images_that_calls_write() {
    for name in ["clear", "copy", "import", "export"] {
        case(name, &["unrecordable", "exit"]);
    }
}

/// Another process may write it at any time.
#[test]
fn memory_that_is_exported() {
    for name in ["ipc", "dmabuf", "dmabuf-v2"] {
        for window in ["batch", "kernel"] {
            outcomes(name, window, &["", "", "imported_memory", "", "", ""]);
        }
    }
}

/// Any kernel may use it from then on.
#[test]
fn a_variable_that_is_exported() {
    outcomes("exported-variable", "batch", &["", "imported_memory", "imported_memory"]);
}

#[test]
fn mappings_of_exported_and_imported_handles() {
    let theirs = "imported_memory";
    outcomes("exported-handle", "batch", &["", theirs, theirs, theirs, theirs, "", ""]);
    outcomes("imported-handle", "batch", &[theirs, "", theirs]);
}

/// It is not put back between passes, nor by the end of the window.
#[test]
fn what_others_write_within_a_window() {
    outcomes("answered", "kernel", &[""]);
}

/// A GPU that faults pages in reaches memory of which no call tells.
#[test]
fn memory_of_the_process() {
    let untracked = "untracked_memory";
    for window in ["batch", "kernel"] {
        outcomes("process", window, &[untracked, untracked, ""]);
    }
}

/// The program may write anew what a copy has read.
#[test]
fn copies_by_kernels_from_memory_of_the_process() {
    case("process-copy", &["unrecordable", "exit"]);
}

/// Nobody can use what is not there.
#[test]
fn pointers_to_no_memory_of_the_process() {
    outcomes("no-memory", "batch", &["", "", "", "", "", ""]);
}

/// Nothing of these is recorded.
#[test]
fn memory_that_other_calls_write() {
    for name in ["batch-copy", "file"] {
        case(name, &["unrecordable", "exit"]);
    }
}

#[test]
fn a_variable_that_a_call_writes() {
    case("variable", &["unrecordable", "exit"]);
}

/// Kernels on such a queue are seen as those on any other.
#[test]
fn a_queue_that_the_runtime_shares_out() {
    case("counted", &["freed", "exit"]);
}

/// Nobody waits for what it will not do any more.
#[test]
fn a_queue_that_is_inactivated() {
    case("inactivated", &["freed"]);
}
