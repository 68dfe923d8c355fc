//! Signals to the command.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::*;
use kreplay_store::{ProcessState, Reader, RunState};

/// The same command, started to take every signal that is tested here, whatever the test was started to ignore.
fn listening(command: &Command) -> Command {
    wrapped("env", &["--default-signal=HUP,INT,QUIT,TERM,XFSZ,CHLD"], command)
}

/// The same command, started by another.
fn wrapped(by: &str, options: &[&str], command: &Command) -> Command {
    let mut wrapped = Command::new(by);
    wrapped.args(options).arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

#[test]
fn signals_that_were_sent_to_the_command_reach_the_program() {
    for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let place = Place::new();
        let ready = place.path("ready");
        let touch = format!("touch={}", ready.display());
        let command = listening(&place.profile(&["--quiet"], &["attach", "dispatch=10", &touch, "sleep=120000"]))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(&ready);
        signal(&command, name);
        let output = command.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(128 + number), "{}", stderr(&output));
        let reader = place.reader();
        let run = reader.run().unwrap();
        assert_eq!((run.state, run.exit_signal), (RunState::Complete, Some(number)));
        assert_eq!(place.dispatches().len(), 10);
    }
}

#[test]
fn a_signal_at_any_time_leaves_nothing_behind() {
    for round in 0..32 {
        let place = Place::new();
        let temporary = place.path("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let options = ["profile", "--device", "soft", "--quiet", "--set", "none", "-o", "run.kreplay", "--"];
        let mut command = listening(place.kreplay(&options).args(["sleep", "120"]))
            .env("TMPDIR", &temporary)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Anywhere between the start of the command and that of the program.
        std::thread::sleep(Duration::from_micros(round * 500));
        signal(&command, "-INT");
        let ended = command.wait().unwrap();
        assert!(ended.code() == Some(130) || ended.signal() == Some(2), "{ended}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "round {round}");
        let file = place.path("run.kreplay");
        assert!(!file.with_extension("kreplay-journal").exists());
        if file.exists() {
            assert_eq!(Reader::open(&file).unwrap().run().unwrap().state, RunState::Complete, "round {round}");
        }
    }
}

#[test]
fn the_program_ignores_what_the_command_was_started_to_ignore() {
    let place = Place::new();
    let inner = place.kreplay(&["profile", "--device", "soft", "--quiet", "--", "grep", "SigIgn", "/proc/self/status"]);
    // As `nohup` does for the first, and `&` in a script for the others.
    let output = wrapped("env", &["--ignore-signal=HUP,INT,QUIT,XFSZ"], &inner).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let mask = u64::from_str_radix(text.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask & 0b111, 0b111, "{text}");
    assert_eq!(mask >> 24 & 1, 1, "{text}");
}

/// Waits until the process whose number is in the file has ended.
fn wait_for_end(file: &Path) {
    let stat = Path::new("/proc").join(std::fs::read_to_string(file).unwrap()).join("stat");
    // One that nobody has waited for is there as a zombie.
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The command is stopped while what it is to lose is made, so that the signal and the records come to it at once.
#[test]
fn a_second_signal_loses_nothing_of_processes_that_have_ended() {
    for _ in 0..8 {
        let place = Place::new();
        let path = |name| place.path(name).display().to_string();
        let (first, second, ready, go) = (path("first"), path("second"), path("ready"), path("go"));
        let left = format!("leave=pid={second},attach,dispatch=3,touch={ready},await={go},dispatch=100,finish");
        let steps = [&format!("pid={first}"), &left, &format!("await={ready}")];
        let command = listening(&place.profile(&["--quiet", "--linger", "60"], &steps.map(String::as_str)))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(Path::new(&ready));
        wait_for_end(Path::new(&first));
        // The command hears of the end at the same time; where it has not yet, the signal does nothing.
        std::thread::sleep(Duration::from_millis(50));
        signal(&command, "-STOP");
        std::fs::write(&go, "").unwrap();
        wait_for_end(Path::new(&second));
        signal(&command, "-INT");
        signal(&command, "-CONT");
        let output = command.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
        assert_eq!(place.dispatches().len(), 103);
        assert_eq!(place.reader().processes().unwrap()[0].state, ProcessState::Ended);
        assert_eq!(place.reader().run().unwrap().state, RunState::Complete);
    }
}

#[test]
fn a_signal_ends_the_waiting_for_processes_that_run() {
    let place = Place::new();
    let path = |name| place.path(name).display().to_string();
    let (first, ready) = (path("first"), path("ready"));
    let left = format!("leave=attach,dispatch=3,touch={ready},alive");
    let steps = [&format!("pid={first}"), &left, &format!("await={ready}")];
    let mut command = listening(&place.profile(&["--quiet", "--linger", "600"], &steps.map(String::as_str)))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(Path::new(&ready));
    wait_for_end(Path::new(&first));
    // Until the command has heard of the end a signal does nothing.
    while command.try_wait().unwrap().is_none() {
        let _ = Command::new("kill").args(["-INT", &command.id().to_string()]).stderr(Stdio::null()).status();
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = command.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("1 processes of the program still run"), "{}", stderr(&output));
    assert_eq!(place.reader().run().unwrap().state, RunState::Incomplete);
}

#[test]
fn a_command_that_was_started_to_ignore_its_children_tells_how_the_program_ended() {
    let place = Place::new();
    let ignoring = |command: &Command| wrapped("env", &["--ignore-signal=CHLD"], command).output().unwrap();
    let output = ignoring(&place.profile(&["--quiet"], &["attach", "dispatch=1", "finish", "exit=7"]));
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(7), ""));
    let run = place.reader().run().unwrap();
    assert_eq!((run.state, run.exit_code), (RunState::Complete, Some(7)));
    // The program waits for its own children.
    let output = ignoring(&place.profile(&["--quiet", "--overwrite"], &["spawn=attach,dispatch=1,finish"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // So does the check of a request, which is a process of its own.
    let output = ignoring(place.kreplay(&["profile", "--device", "cuda", "-c", "x", "-o", "other", "--"]).arg("true"));
    assert_eq!(output.status.code(), Some(117), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("error: ").count(), 1, "{}", stderr(&output));
}

/// Of a container the sender is outside: the system then names no process, or number 0, as it does for the terminal.
#[test]
fn a_signal_from_outside_of_a_container_reaches_the_program() {
    let container = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];
    if !Command::new("unshare")
        .args(container)
        .arg("true")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|run| run.success())
    {
        // Whether that is permitted is the machine's decision, so that it is no failure anywhere.
        return println!("skipped: no container can be made here");
    }
    let place = Place::new();
    let ready = place.path("ready");
    let touch = format!("touch={}", ready.display());
    let inside = listening(&place.profile(&["--quiet"], &["attach", "dispatch=10", &touch, "sleep=120000"]));
    let outer = wrapped("unshare", &container, &inside).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&ready);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", outer.id())).unwrap();
    assert!(Command::new("kill").args(["-TERM", children.trim()]).status().unwrap().success());
    let output = outer.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 15), "{}", stderr(&output));
    assert_eq!(place.reader().run().unwrap().exit_signal, Some(15));
    assert_eq!(place.dispatches().len(), 10);
}
