//! What `--overwrite` does to the profile that has the name.

use std::fs;
use std::process::Command;

use crate::common::*;

/// A profile of one dispatch in `run.kreplay`.
fn recorded() -> (Place, Vec<u8>) {
    let place = Place::new();
    assert_eq!(place.profile(&["--quiet"], &["attach", "dispatch=1", "finish"]).status().unwrap().code(), Some(0));
    let bytes = fs::read(place.path("run.kreplay")).unwrap();
    (place, bytes)
}

fn names(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "libraries")
        .collect();
    names.sort();
    names
}

#[test]
fn a_profile_outlives_a_program_that_cannot_be_started() {
    let (place, bytes) = recorded();
    let options = ["profile", "--device", "soft", "--overwrite"];
    let output = place.kreplay(&options).args(["-o", "run.kreplay", "--", "./typo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(119), "{}", stderr(&output));
    assert_eq!(fs::read(place.path("run.kreplay")).unwrap(), bytes);
    assert_eq!(names(&place), ["run.kreplay"]);
    // The same where the name is made from the program's.
    fs::rename(place.path("run.kreplay"), place.path("typo.kreplay")).unwrap();
    let output = place.kreplay(&options).args(["--", "./typo"]).output().unwrap();
    assert_eq!(output.status.code(), Some(119), "{}", stderr(&output));
    assert_eq!(fs::read(place.path("typo.kreplay")).unwrap(), bytes);
    assert_eq!(names(&place), ["typo.kreplay"]);
}

#[test]
fn a_profile_outlives_a_full_disk() {
    let (place, bytes) = recorded();
    let inner = place.profile(&["--overwrite"], &["print=never"]);
    // A limit on the size of files stands in for a full disk: 8 KiB hold no schema.
    let output = Command::new("bash")
        .args(["-c", "ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(place.folder.path())
        .env("KREPLAY_LIB_DIR", place.path("libraries"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(118), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    assert_eq!(fs::read(place.path("run.kreplay")).unwrap(), bytes);
    assert_eq!(names(&place), ["run.kreplay"]);
}

#[test]
fn a_profile_that_is_being_recorded_is_not_replaced() {
    let place = Place::new();
    let (ready, go) = (place.path("ready"), place.path("go"));
    let (touch, wait) = (format!("touch={}", ready.display()), format!("await={}", go.display()));
    let mut first = place.profile(&["--quiet"], &["attach", "dispatch=3", &touch, &wait, "finish"]).spawn().unwrap();
    wait_for(&ready);
    let output = place.profile(&["--overwrite"], &["print=never"]).output().unwrap();
    assert_eq!(output.status.code(), Some(118), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("run.kreplay is being recorded by another kreplay"), "{text}");
    assert!(text.contains("hint: wait until that run has ended"), "{text}");
    assert_eq!(stdout(&output), "");
    fs::write(&go, "").unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(place.dispatches().len(), 3);
    // Now it may go.
    assert_eq!(place.profile(&["--quiet", "--overwrite"], &["print=x"]).status().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_replaced_comes_with_a_hint_that_fits() {
    let place = Place::new();
    fs::write(place.path("run.kreplay"), "notes").unwrap();
    let text = stderr(&place.profile(&["--overwrite"], &["print=never"]).output().unwrap());
    assert!(
        text.contains("not a kreplay file") && text.contains("hint: choose another name with -o, or remove"),
        "{text}"
    );
    fs::write(place.path("run.kreplay"), "").unwrap();
    assert_eq!(place.profile(&["--quiet", "--overwrite"], &["print=x"]).status().unwrap().code(), Some(0));
    assert_eq!(names(&place), ["run.kreplay"]);
}

#[test]
fn of_commands_that_replace_one_profile_at_once_none_destroys_another() {
    let (place, _) = recorded();
    for round in 0..6 {
        let mut commands: Vec<_> = (0..8)
            .map(|_| {
                place
                    .profile(&["--quiet", "--overwrite"], &["attach", "dispatch=7", "finish"])
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut recorded = 0;
        for command in commands.drain(..) {
            let output = command.wait_with_output().unwrap();
            let text = stderr(&output);
            match output.status.code() {
                Some(0) => recorded += 1,
                Some(118) => assert!(text.contains("is being recorded by another kreplay"), "{text}"),
                other => panic!("{other:?}: {text}"),
            }
        }
        assert!(recorded > 0, "round {round}");
        assert_eq!(names(&place), ["run.kreplay"], "round {round}");
        assert_eq!(place.dispatches().len(), 7, "round {round}");
    }
}
