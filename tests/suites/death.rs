//! Invariant 8: records of finished dispatches survive the death of either process; and the program survives the
//! command's.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kreplay_protocol::Outcome;
use kreplay_store::{DispatchRow, Reader, RunState};
use kreplay_tests::{DEADLINE, Profile, binary};
use rustix::process::{Pid, Signal, kill_process};

/// Lines to wait for before the killing.
const BEFORE: usize = 15;

/// A profiled program that runs.
struct Running {
    command: Child,
    lines: BufReader<ChildStdout>,
    program: Pid,
}

fn start(profile: &Profile, arguments: &[&str]) -> (Running, PathBuf) {
    let (mut command, file) = profile.command(&binary("steady"), arguments.iter().copied());
    let mut command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the command can be started");
    let mut lines = BufReader::new(command.stdout.take().expect("it was asked for"));
    let mut first = String::new();
    lines.read_line(&mut first).expect("the program writes");
    let pid = first.trim().strip_prefix("pid ").and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
    let program = pid.unwrap_or_else(|| panic!("the first line is not its process id: {first}"));
    let mut running = Running { command, lines, program };
    for launch in 0..BEFORE {
        assert_eq!(running.line(), format!("launch {launch} ok"));
    }
    (running, file)
}

impl Running {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the program's output can be read");
        line.trim().to_owned()
    }
}

fn dispatches(file: &Path) -> Vec<DispatchRow> {
    kreplay_tests::dispatches(file).unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until so many dispatches are in the file. How soon the command writes them is the machine's affair.
fn wait_for(file: &Path, count: usize) {
    let end = Instant::now() + DEADLINE;
    while dispatches(file).len() < count {
        assert!(Instant::now() < end, "{count} dispatches were finished, {} are in the file", dispatches(file).len());
        thread::sleep(Duration::from_millis(2));
    }
}

/// Kinds of windows, and how many dispatches are finished in any case when [`BEFORE`] have printed. A dispatch of a batch
/// window is finished when its window is; the last one may be on its way.
fn windows() -> [(Profile, usize); 2] {
    let profile = || Profile::new().passes(3);
    [
        (profile().window("kernel"), BEFORE - 1),
        (profile().window("batch").options(["--window-kernels", "4"]), (BEFORE / 4 - 1) * 4),
    ]
}

#[test]
fn invariant_8_the_program_and_its_records_survive_the_command() {
    for (profile, finished) in windows() {
        the_command_dies(&profile, finished);
    }
}

fn the_command_dies(profile: &Profile, finished: usize) {
    // The program's end waits for the command's: the input ends with the wait for the command.
    let (mut running, file) = start(profile, &["60", "wait"]);
    wait_for(&file, finished);
    running.command.kill().expect("the command can be killed");
    running.command.wait().expect("a killed command ends");
    // The pipe stays open as long as the program lives: it must come to its end, and rightly.
    for launch in BEFORE..60 {
        assert_eq!(running.line(), format!("launch {launch} ok"), "the program did not survive the command");
    }
    assert_eq!(running.line(), "", "the program wrote more");
    let rows = dispatches(&file);
    assert!(rows.len() >= finished, "{finished} dispatches were in the file, {} are", rows.len());
    assert!(rows.iter().all(|row| row.outcome == Outcome::Replayed), "{rows:#?}");
    let state = Reader::open(&file).and_then(|reader| reader.run()).map(|run| run.state);
    assert_eq!(state.ok(), Some(RunState::Recording), "the file tells that its writer died");
}

#[test]
fn invariant_8_records_survive_the_program() {
    for (profile, finished) in windows() {
        the_program_dies(&profile, finished);
    }
}

fn the_program_dies(profile: &Profile, finished: usize) {
    let (mut running, file) = start(profile, &["100000"]);
    kill_process(running.program, Signal::KILL).expect("the program can be killed");
    let status = running.command.wait().expect("the command ends");
    assert_eq!(status.code(), Some(128 + 9), "the command ends as the program did");
    let rows = dispatches(&file);
    assert!(rows.len() >= finished, "{finished} dispatches were finished, {} are in the file", rows.len());
    let run = Reader::open(&file).and_then(|reader| reader.run()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.exit_signal, Some(9));
}
