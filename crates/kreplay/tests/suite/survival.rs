//! Deaths, strangers and full disks.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::*;
use kreplay_store::{ProcessState, RunState};

#[test]
fn the_program_outlives_a_killed_command_and_the_file_keeps_what_was_recorded() {
    let place = Place::new();
    let (ready, done) = (place.path("ready"), place.path("done"));
    let touch_ready = format!("touch={}", ready.display());
    let touch_done = format!("touch={}", done.display());
    let mut command = place
        .profile(&["--quiet"], &["attach", "dispatch=200", &touch_ready, "alive", "dispatch=5", "finish", &touch_done])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&ready);
    signal(&command, "-KILL");
    assert_eq!(command.wait().unwrap().signal(), Some(9));
    // `alive` ends when the library sees that the command is gone; the program then runs to its end.
    wait_for(&done);
    let before: Vec<_> = list(&place);
    assert_eq!(place.reader().run().unwrap().state, RunState::Recording);
    // All but those that were on their way when the command was killed.
    let kept = place.dispatches();
    assert!(kept.iter().enumerate().all(|(at, row)| row.number == at as u64));
    let text = stdout(&place.kreplay(&["report", "run.kreplay"]).output().unwrap());
    assert!(text.contains("never finished"), "{text}");
    assert_eq!(list(&place), before, "reading changed something");
}

fn list(place: &Place) -> Vec<(std::ffi::OsString, u64, std::time::SystemTime)> {
    let mut all: Vec<_> = std::fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            (entry.file_name(), found.len(), found.modified().unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn a_kill_of_either_side_at_any_time_leaves_a_whole_file() {
    for (round, target) in (0..16).zip(["command", "program"].into_iter().cycle()) {
        let place = Place::new();
        let pid = place.path("pid");
        let steps =
            [format!("pid={}", pid.display()), "attach".into(), "dispatch=200000".into(), "sleep=120000".into()];
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let mut command = place.profile(&["--quiet"], &steps).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&pid);
        // Anywhere between the first words and many records.
        std::thread::sleep(Duration::from_millis(round * 7));
        let program = std::fs::read_to_string(&pid).unwrap();
        match target {
            "command" => signal(&command, "-KILL"),
            _ => assert!(Command::new("kill").args(["-KILL", &program]).status().unwrap().success()),
        }
        let ended = command.wait().unwrap();
        // The program of a killed command goes on, and would for long: it has nobody who waits for it.
        let _ = Command::new("kill").args(["-KILL", &program]).stderr(Stdio::null()).status();
        let rows = place.dispatches();
        assert!(rows.iter().enumerate().all(|(at, row)| row.number == at as u64), "records are missing in between");
        let run = place.reader().run().unwrap();
        if target == "program" {
            assert_eq!((ended.code(), run.exit_signal, run.state), (Some(137), Some(9), RunState::Complete));
            // Readings follow their dispatch; only the last dispatch may lack some.
            assert!(rows.iter().rev().skip(1).all(|row| row.readings.len() == 2));
        } else {
            assert_eq!(run.state, RunState::Recording);
        }
    }
}

#[test]
fn what_the_command_has_committed_is_there_after_its_death() {
    let place = Place::new();
    let (ready, go) = (place.path("ready"), place.path("go"));
    let (touch, wait) = (format!("touch={}", ready.display()), format!("await={}", go.display()));
    let mut command = place.profile(&["--quiet"], &["attach", "dispatch=100", &touch, &wait]).spawn().unwrap();
    wait_for(&ready);
    // What the program has handed over, the command commits soon: whatever a reader sees is committed.
    place.wait_for_dispatches(100);
    signal(&command, "-KILL");
    command.wait().unwrap();
    std::fs::write(&go, "").unwrap();
    assert!(place.dispatches().len() >= 100, "{}", place.dispatches().len());
}

#[test]
fn a_profile_can_be_read_while_it_is_made() {
    let place = Place::new();
    let (ready, go) = (place.path("ready"), place.path("go"));
    let (touch, wait) = (format!("touch={}", ready.display()), format!("await={}", go.display()));
    let mut command = place
        .profile(&["--quiet"], &["attach", "dispatch=50", &touch, &wait, "dispatch=50", "finish"])
        .spawn()
        .unwrap();
    wait_for(&ready);
    place.wait_for_dispatches(50);
    let report = place.kreplay(&["report", "run.kreplay", "--format", "json"]).output().unwrap();
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let json: serde_json::Value = serde_json::from_str(&stdout(&report)).unwrap();
    assert_eq!((&json["run"]["state"], &json["run"]["dispatches"]), (&"recording".into(), &50.into()));
    std::fs::write(&go, "").unwrap();
    assert_eq!(command.wait().unwrap().code(), Some(0));
    assert_eq!(place.dispatches().len(), 100);
}

#[test]
fn a_profile_within_a_profile_is_the_inner_ones() {
    let place = Place::new();
    let inner = place.profile(&["--quiet"], &["attach", "dispatch=2", "finish"]);
    let mut outer = place.kreplay(&["profile", "--device", "soft", "--quiet", "-o", "outer.kreplay", "--"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    let output = outer.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(place.dispatches().len(), 2);
    assert_eq!(stderr(&output), "");
}

#[test]
fn strangers_on_the_socket_disturb_nobody() {
    let place = Place::new();
    let steps =
        ["attach", "dispatch=3", "raw=version", "raw=garbage", "raw=huge", "raw=silent", "dispatch=4", "finish"];
    let output = place.profile(&["--quiet"], &steps).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("come from different versions"), "{text}");
    assert!(text.contains("no longer recorded: a frame of 5 bytes"), "{text}");
    assert!(text.contains("longer than the"), "{text}");
    assert_eq!(place.dispatches().len(), 7);
    let states: Vec<_> = place.reader().processes().unwrap().iter().map(|process| process.state).collect();
    assert_eq!(states[0], ProcessState::Ended);
    assert_eq!(states[1..], [ProcessState::Lost, ProcessState::Lost]);
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_program() {
    let place = Place::new();
    // A limit on the size of files stands in for a full disk: 100 blocks of 1024 bytes.
    let mut shell = Command::new("bash");
    let inner = place.profile(&["--quiet"], &["attach", "dispatch=20000", "print=still here", "finish"]);
    shell
        .args(["-c", "ulimit -f 400; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(place.folder.path())
        .env("KREPLAY_LIB_DIR", place.path("libraries"))
        .env_remove("HSA_TOOLS_LIB");
    let output = shell.output().unwrap();
    assert_eq!(stdout(&output), "still here\n");
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    assert!(stderr(&output).contains("writing to run.kreplay failed"), "{}", stderr(&output));
    // Whether the log could be taken over depends on where the limit fell.
    let log = place.path("run.kreplay-wal");
    assert_eq!(stderr(&output).contains("run.kreplay-wal beside it: keep both"), log.exists(), "{}", stderr(&output));
    let kept = place.dispatches().len();
    assert!(kept > 0 && kept < 20_000, "{kept}");
}

#[test]
fn the_socket_is_for_this_user_alone_and_goes_when_the_run_does() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let ready = place.path("ready");
    let touch = format!("touch={}", ready.display());
    let go = place.path("go");
    let wait = format!("await={}", go.display());
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mut command =
        place.profile(&["--quiet"], &["attach", &touch, &wait, "finish"]).env("TMPDIR", &temporary).spawn().unwrap();
    wait_for(&ready);
    let folder = std::fs::read_dir(&temporary).unwrap().next().unwrap().unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let socket = std::fs::metadata(folder.path().join("socket")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    std::fs::write(&go, "").unwrap();
    assert_eq!(command.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}
