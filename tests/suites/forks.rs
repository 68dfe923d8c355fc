//! Processes that fork while they are profiled.

use std::path::{Path, PathBuf};

use kreplay_protocol::Outcome;
use kreplay_store::{ProcessRow, ProcessState, Reader, RunState};
use kreplay_tests::{Profile, Profiled, build, missing, program, skipped};

/// The program, or `None` where it cannot be built.
fn forks() -> Option<PathBuf> {
    if let Some(why) = missing() {
        skipped(&why);
        return None;
    }
    Some(build(&program("forks"), "-O2"))
}

fn reader(profiled: &Profiled) -> Reader {
    Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}\n{:#?}", profiled.ended))
}

fn processes(profiled: &Profiled) -> Vec<ProcessRow> {
    reader(profiled).processes().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one case of the program: its child ends with `code`, and the file has so many records of each process.
fn case(program: &Path, name: &str, code: i32, records: &[u64]) -> Profiled {
    let mut last = None;
    for window in ["auto", "kernel"] {
        let profiled = Profile::new().passes(3).window(window).run(program, [name]);
        assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
        let first = profiled.ended.stdout.lines().find(|line| line.starts_with(name));
        assert_eq!(first, Some(format!("{name}: {code}").as_str()), "{:#?}", profiled.ended);
        let found = processes(&profiled);
        let counts: Vec<u64> = found.iter().map(|process| process.records).collect();
        assert_eq!(counts, records, "{name}: {found:#?}");
        assert!(found.iter().all(|process| process.state == ProcessState::Ended), "{name}: {found:#?}");
        assert!(profiled.dispatches().iter().all(|row| row.outcome == Outcome::Replayed), "{name}");
        last = Some(profiled);
    }
    last.expect("there are kinds of windows")
}

#[test]
fn a_forked_child_is_no_process_of_the_profile_however_it_ends() {
    let Some(program) = forks() else { return };
    for (name, code) in [("exit", 7), ("quick", 7), ("daemon", 4), ("killed", 128 + 9)] {
        case(&program, name, code, &[3]);
    }
}

#[test]
fn a_program_that_a_child_executes_is_one() {
    let Some(program) = forks() else { return };
    for name in ["exec", "vfork", "spawn"] {
        case(&program, name, 0, &[3, 1]);
    }
}

#[test]
fn a_child_that_uses_the_device_harms_nobody() {
    let Some(program) = forks() else { return };
    case(&program, "uses", 0, &[4]);
}

#[test]
fn a_child_does_not_wait_for_a_window_that_was_open_when_it_was_forked() {
    let Some(program) = forks() else { return };
    case(&program, "busy", 0, &[4]);
}

#[test]
fn a_runtime_that_is_started_in_a_child_is_told_of() {
    let Some(program) = forks() else { return };
    let profiled = case(&program, "restart", 7, &[3, 0]);
    let warnings = reader(&profiled).warnings().unwrap_or_else(|error| panic!("{error}"));
    let told = warnings.iter().any(|warning| warning.code == "restarted" && warning.text.contains("forked child"));
    assert!(told, "{warnings:#?}");
}

#[test]
fn a_child_that_outlives_its_killed_parent_holds_nobody_up() {
    let Some(program) = forks() else { return };
    let profile = Profile::new().passes(3).window("kernel");
    let file = profile.path("go");
    let go = file.to_str().expect("temporary names are plain").to_owned();
    let profiled = profile.run(&program, ["outlives", &go]);
    // The child lives until now, with its parent's socket.
    std::fs::write(&file, "").expect("a file can be made");
    assert_eq!(profiled.ended.code(), 128 + 9, "{:#?}", profiled.ended);
    let found = processes(&profiled);
    let states: Vec<_> = found.iter().map(|process| (process.state, process.records)).collect();
    assert_eq!(states, [(ProcessState::Lost, 1)], "{found:#?}");
    let run = reader(&profiled).run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((run.state, run.exit_signal), (RunState::Complete, Some(9)));
}
