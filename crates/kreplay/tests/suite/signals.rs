//! Signals to the command.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::*;
use kreplay_store::{Reader, RunState};

#[test]
fn signals_that_were_sent_to_the_command_reach_the_program() {
    for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let place = Place::new();
        let ready = place.path("ready");
        let touch = format!("touch={}", ready.display());
        let command = place
            .profile(&["--quiet"], &["attach", "dispatch=10", &touch, "sleep=120000"])
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
        let mut command = place
            .kreplay(&["profile", "--device", "soft", "--quiet", "--set", "none", "-o", "run.kreplay", "--"])
            .args(["sleep", "120"])
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
    let output = Command::new("sh")
        .args(["-c", "trap '' HUP INT QUIT XFSZ; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(place.folder.path())
        .env("KREPLAY_LIB_DIR", place.path("libraries"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let mask = u64::from_str_radix(text.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(mask & 0b111, 0b111, "{text}");
    assert_eq!(mask >> 24 & 1, 1, "{text}");
}
