//! `kreplay profile` with real processes.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::*;
use kreplay_protocol::{Outcome, Value};
use kreplay_store::{ProcessState, RunState};

#[test]
fn the_programs_streams_and_exit_code_are_its_own() {
    let place = Place::new();
    let mut child = place
        .profile(&["--quiet"], &["attach", "print=out", "eprint=err", "echo", "dispatch=3", "finish", "exit=7"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through stdin\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(stdout(&output), "out\nthrough stdin\n");
    assert_eq!(stderr(&output), "err\n");
    let run = place.reader().run().unwrap();
    assert_eq!((run.state, run.exit_code, run.exit_signal), (RunState::Complete, Some(7), None));
    let dispatches = place.dispatches();
    assert_eq!(dispatches.len(), 3);
    let values: Vec<_> = dispatches[2].readings.iter().map(|reading| (reading.pass, reading.value)).collect();
    assert_eq!(values, [(Some(0), Value::Count(102)), (Some(1), Value::Count(102))]);
}

#[test]
fn the_summary_is_on_stderr_and_names_everything() {
    let place = Place::new();
    let output = place.profile(&[], &["attach", "dispatch=2", "decline=graph_launch", "finish"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    for expected in
        ["3 dispatches: 2 replayed", "SQ_WAVES", "simulated", "declined 1 (graph_launch): ", "run.kreplay", "pass"]
    {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
    let declined = &place.dispatches()[2];
    assert_eq!((declined.outcome, declined.reason.as_deref()), (Outcome::Declined, Some("graph_launch")));
    assert_eq!(declined.detail, "as the test wants");
}

#[test]
fn a_summary_says_how_much_it_leaves_out() {
    let place = Place::new();
    let kernels: Vec<String> = (0..15).map(|number| format!("kernel=k{number}")).collect();
    let mut steps = vec!["attach"];
    for kernel in &kernels {
        steps.extend([kernel.as_str(), "dispatch=1"]);
    }
    steps.push("finish");
    let output = place.profile(&[], &steps).output().unwrap();
    assert!(stderr(&output).contains("3 more kernels are in the report"), "{}", stderr(&output));
    let report = place.kreplay(&["report", "run.kreplay", "--by", "kernel"]).output().unwrap();
    assert!(stdout(&report).contains("k14"));
}

#[test]
fn a_program_that_dies_leaves_its_finished_records() {
    let place = Place::new();
    let output = place.profile(&["--quiet"], &["attach", "dispatch=40", "abort"]).output().unwrap();
    // SIGABRT is 6.
    assert_eq!(output.status.code(), Some(134), "{}", stderr(&output));
    let reader = place.reader();
    assert_eq!(reader.run().unwrap().exit_signal, Some(6));
    assert_eq!(reader.processes().unwrap()[0].state, ProcessState::Lost);
    assert_eq!(place.dispatches().len(), 40);
}

#[test]
fn every_process_of_the_job_is_in_the_one_file() {
    let place = Place::new();
    let child = "spawn=attach,dispatch=5,finish";
    let grandchild = "spawn=attach,dispatch=1,finish";
    let output = place
        .profile(&["--quiet"], &["attach", "dispatch=2", child, grandchild, child, "dispatch=1", "finish"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let processes = place.reader().processes().unwrap();
    assert_eq!(processes.iter().map(|process| process.records).collect::<Vec<_>>(), [3, 5, 1, 5]);
    assert!(processes.iter().all(|process| process.state == ProcessState::Ended));
    assert!(processes[1..].iter().all(|process| process.parent_pid == processes[0].pid));
    assert_eq!(place.dispatches().len(), 14);
}

#[test]
fn a_program_with_more_records_than_anybody_buffers_loses_none() {
    let place = Place::new();
    let output = place.profile(&["--quiet"], &["attach", "dispatch=20000", "finish"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let process = &place.reader().processes().unwrap()[0];
    assert_eq!((process.records, process.records_made, process.lost_records), (20_000, Some(20_000), Some(0)));
    let dispatches = place.dispatches();
    assert!(dispatches.iter().enumerate().all(|(at, row)| row.number == at as u64 && row.readings.len() == 2));
}

#[test]
fn filters_are_asked_once_a_dispatch() {
    let place = Place::new();
    let options = ["--quiet", "--kernel", "^(add|scale)", "--exclude", "tail", "--skip", "2", "--count", "3"];
    let steps = ["attach", "kernel=copy", "dispatch=4", "kernel=scale", "dispatch=10", "kernel=add_tail", "dispatch=1"];
    let output = place.profile(&options, &[&steps[..], &["finish"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(place.dispatches().len(), 3);
    assert_eq!(place.reader().processes().unwrap()[0].not_selected, Some(12));
}

#[test]
fn a_process_that_nobody_waits_for_is_waited_for_a_while() {
    let place = Place::new();
    let (pid, ready, go) = (place.path("pid"), place.path("ready"), place.path("go"));
    let left = format!("leave=attach,dispatch=3,touch={},await={},dispatch=4,finish", ready.display(), go.display());
    let steps = [format!("pid={}", pid.display()), left, format!("await={}", ready.display())];
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let mut command = place.profile(&["--quiet", "--linger", "60"], &steps).spawn().unwrap();
    wait_for(&ready);
    let program = Path::new("/proc").join(std::fs::read_to_string(&pid).unwrap());
    while program.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    std::fs::write(&go, "").unwrap();
    assert_eq!(command.wait().unwrap().code(), Some(0));
    assert_eq!(place.dispatches().len(), 7);
    assert_eq!(place.reader().run().unwrap().state, RunState::Complete);
}

#[test]
fn a_process_that_stays_is_left_with_a_word() {
    let place = Place::new();
    let (ready, done) = (place.path("ready"), place.path("done"));
    let left = format!("leave=attach,dispatch=3,touch={},alive,dispatch=1,touch={}", ready.display(), done.display());
    let wait = format!("await={}", ready.display());
    let output = place.profile(&["--quiet", "--linger", "0"], &[&left, &wait]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("1 processes of the program still run"), "{}", stderr(&output));
    let reader = place.reader();
    assert_eq!(reader.run().unwrap().state, RunState::Incomplete);
    assert_eq!(reader.processes().unwrap()[0].state, ProcessState::Running);
    assert!(place.dispatches().len() >= 3);
    // It goes on, unprofiled.
    while !done.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn any_number_of_seconds_can_be_waited_for_what_is_left_behind() {
    let place = Place::new();
    let options = ["--quiet", "--linger", "18446744073709551615"];
    let output = place.profile(&options, &["attach", "dispatch=1", "finish", "exit=7"]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(7), ""));
    assert_eq!(place.reader().run().unwrap().state, RunState::Complete);
}

#[test]
fn nothing_to_profile_is_said_unless_quiet() {
    let place = Place::new();
    let output = place.profile(&[], &["print=hello"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "hello\n");
    assert!(stderr(&output).contains("nothing to profile"), "{}", stderr(&output));
    let output = place.profile(&["--quiet", "--overwrite"], &["print=hello"]).output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

#[test]
fn a_name_is_made_and_never_used_twice() {
    let place = Place::new();
    for expected in ["scripted_program.kreplay", "scripted_program-2.kreplay"] {
        assert!(!place.path(expected).exists());
        let program = program();
        let status = place
            .kreplay(&["profile", "--device", "soft", "--quiet", "--", program.to_str().unwrap(), "attach", "finish"])
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(place.path(expected).exists(), "{expected}");
    }
}

#[test]
fn each_level_of_the_log_tells_more() {
    let place = Place::new();
    for (level, warned, each) in [("off", false, false), ("warn", true, false), ("info", true, true)] {
        let steps = ["attach", "dispatch=2", "decline=graph_launch", "finish"];
        let output = place.profile(&["--quiet", "--overwrite", "--log", level], &steps).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert_eq!(text.contains("kreplay: graph_launch: "), warned, "{level}: {text}");
        assert_eq!(text.matches("kreplay: dispatch=").count(), if each { 3 } else { 0 }, "{level}: {text}");
        assert_eq!(text.is_empty(), level == "off", "{text}");
    }
    for gone in ["error", "debug"] {
        assert_eq!(place.profile(&["--log", gone], &["print=never"]).output().unwrap().status.code(), Some(116));
    }
}
