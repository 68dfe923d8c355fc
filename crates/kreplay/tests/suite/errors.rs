//! What a user can get wrong, with its exit code and its hint.

use std::fs;
use std::process::Output;

use crate::common::*;

fn expect(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in:\n{text}");
    }
}

#[test]
fn usage_errors_end_with_116() {
    let place = Place::new();
    expect(&place.kreplay(&["profile"]).output().unwrap(), 116, &["PROGRAM"]);
    expect(&place.kreplay(&["nonsense"]).output().unwrap(), 116, &["nonsense"]);
    expect(&place.profile(&["--kernel", "("], &[]).output().unwrap(), 116, &["--kernel", "hint:"]);
    expect(&place.profile(&["--chunk", "3000"], &[]).output().unwrap(), 116, &["--chunk 3000", "power of two"]);
    expect(&place.profile(&["--passes", "0"], &[]).output().unwrap(), 116, &["--passes"]);
    for nothing in [&["-c", ""][..], &["-c", ",,"], &["-c", " "], &["--set", ""]] {
        let words = [&format!("{} names nothing to count", nothing[0]), "hint: give it a name"];
        let profile = [&["profile", "--device", "soft"], nothing, &["--", "touch", "ran"]].concat();
        expect(&place.kreplay(&profile).output().unwrap(), 116, &words);
        expect(&place.kreplay(&[&["plan", "--device", "soft"], nothing].concat()).output().unwrap(), 116, &words);
        assert!(!place.path("ran").exists());
    }
    assert_eq!(place.kreplay(&["--help"]).output().unwrap().status.code(), Some(0));
}

#[test]
fn missing_libraries_end_with_117_and_leave_no_file() {
    let place = Place::new();
    let output = place.profile(&[], &[]).env("KREPLAY_LIB_DIR", place.path("nowhere")).output().unwrap();
    expect(&output, 117, &["libkreplay.so", "nowhere", "hint:", "KREPLAY_LIB_DIR"]);
    assert!(!place.path("run.kreplay").exists());
}

#[test]
fn a_taken_name_ends_with_118_and_the_file_stays() {
    let place = Place::new();
    fs::write(place.path("run.kreplay"), "precious").unwrap();
    expect(&place.profile(&[], &["print=never"]).output().unwrap(), 118, &["exists already", "--overwrite"]);
    // Not even --overwrite replaces what is no profile.
    let output = place.profile(&["--overwrite"], &["print=never"]).output().unwrap();
    expect(&output, 118, &["not a kreplay file"]);
    assert_eq!(stdout(&output), "", "the program ran although its profile could not be kept");
    assert_eq!(fs::read_to_string(place.path("run.kreplay")).unwrap(), "precious");
    fs::remove_file(place.path("run.kreplay")).unwrap();
    for options in [&["--quiet"][..], &["--quiet", "--overwrite"]] {
        assert_eq!(place.profile(options, &["attach", "dispatch=1", "finish"]).status().unwrap().code(), Some(0));
    }
    assert_eq!(place.dispatches().len(), 1);
}

#[test]
fn a_place_that_cannot_be_written_ends_with_118() {
    let place = Place::new();
    let output = place
        .kreplay(&["profile", "--device", "soft", "-o", "no/such/folder/x.kreplay", "--", "true"])
        .output()
        .unwrap();
    expect(&output, 118, &["no/such/folder/x.kreplay", "hint:"]);
}

#[test]
fn a_profile_is_not_written_to_standard_output() {
    let place = Place::new();
    let output = place.kreplay(&["profile", "--device", "soft", "-o", "-", "--", "true"]).output().unwrap();
    expect(&output, 116, &["standard output", "hint: name a file"]);
    assert!(!place.path("-").exists());
}

#[test]
fn a_program_that_cannot_start_ends_with_119_and_leaves_no_file() {
    let place = Place::new();
    fs::write(place.path("data"), "not a program").unwrap();
    for (program, word) in [("./no-such-program", "path"), ("./data", "executable")] {
        let output =
            place.kreplay(&["profile", "--device", "soft", "-o", "run.kreplay", "--", program]).output().unwrap();
        expect(&output, 119, &[program, "hint:", word]);
        assert!(!place.path("run.kreplay").exists());
    }
}

#[test]
fn unknown_counters_end_with_120_before_the_program_runs() {
    let place = Place::new();
    let output =
        place.kreplay(&["profile", "--device", "soft", "-c", "SQ_WAVS", "--", "touch", "ran"]).output().unwrap();
    expect(&output, 120, &["SQ_WAVS", "did you mean SQ_WAVES", "kreplay counters"]);
    assert!(!place.path("ran").exists());
    expect(&place.kreplay(&["plan", "--device", "soft", "-c", "NOPE_X"]).output().unwrap(), 120, &["NOPE_X"]);
}

#[test]
fn what_is_not_implemented_says_so() {
    let place = Place::new();
    let output = place.profile(&["--fence", "off"], &["print=never"]).output().unwrap();
    expect(&output, 120, &["--fence off with --device soft", "not implemented", "hint: use --fence on"]);
    let output = place.profile(&["--cache", "flush"], &["print=never"]).output().unwrap();
    expect(&output, 120, &["--cache flush with --device soft", "not implemented", "hint: use --cache none"]);
    assert_eq!(stdout(&output), "");
}

#[test]
fn reports_refuse_what_is_no_profile() {
    let place = Place::new();
    fs::write(place.path("notes.txt"), "x".repeat(4096)).unwrap();
    expect(&place.kreplay(&["report", "notes.txt"]).output().unwrap(), 118, &["not a kreplay file", "hint:"]);
    expect(&place.kreplay(&["report", "none.kreplay"]).output().unwrap(), 118, &["none.kreplay", "hint: "]);
    assert_eq!(place.profile(&["--quiet"], &["attach", "dispatch=1", "finish"]).status().unwrap().code(), Some(0));
    let whole = fs::read(place.path("run.kreplay")).unwrap();
    fs::write(place.path("cut.kreplay"), &whole[..whole.len() / 2]).unwrap();
    expect(&place.kreplay(&["report", "cut.kreplay"]).output().unwrap(), 118, &["damaged", "hint: "]);
    let mut newer = whole.clone();
    newer[63] += 1;
    fs::write(place.path("newer.kreplay"), &newer).unwrap();
    let found = format!("format version {}", kreplay_store::STORE_VERSION.0 + 1);
    expect(&place.kreplay(&["report", "newer.kreplay"]).output().unwrap(), 118, &[&found, "a newer one"]);
    let output = place.kreplay(&["report", "run.kreplay", "-o", "run.kreplay"]).output().unwrap();
    expect(&output, 116, &["the profile itself"]);
    assert_eq!(fs::read(place.path("run.kreplay")).unwrap(), whole);
}

#[test]
fn a_report_replaces_no_profile() {
    let place = Place::new();
    assert_eq!(place.profile(&["--quiet"], &["attach", "dispatch=1", "finish"]).status().unwrap().code(), Some(0));
    let whole = fs::read(place.path("run.kreplay")).unwrap();
    fs::hard_link(place.path("run.kreplay"), place.path("hard")).unwrap();
    std::os::unix::fs::symlink("run.kreplay", place.path("soft")).unwrap();
    for link in ["hard", "soft"] {
        let output = place.kreplay(&["report", "run.kreplay", "-o", link]).output().unwrap();
        expect(&output, 116, &[link, "the profile itself", "hint: write the report to another file"]);
    }
    let mut newer = whole.clone();
    newer[63] += 1;
    for other in [&whole, &newer] {
        fs::write(place.path("other.kreplay"), other).unwrap();
        let output = place.kreplay(&["report", "run.kreplay", "-o", "other.kreplay"]).output().unwrap();
        expect(&output, 116, &["other.kreplay is a profile", "hint: write the report to another file"]);
        assert_eq!(&fs::read(place.path("other.kreplay")).unwrap(), other);
    }
    assert_eq!(fs::read(place.path("run.kreplay")).unwrap(), whole);
    // Anything else is replaced, as --help says; and a device is written to.
    fs::write(place.path("old.txt"), "old").unwrap();
    for out in ["old.txt", "/dev/null"] {
        assert_eq!(place.kreplay(&["report", "run.kreplay", "-o", out]).status().unwrap().code(), Some(0));
    }
    assert!(!fs::read_to_string(place.path("old.txt")).unwrap().starts_with("old"));
}

#[test]
fn a_report_replaces_no_part_of_a_profile_and_nothing_before_it_is_whole() {
    let place = Place::new();
    assert_eq!(place.profile(&["--quiet"], &["attach", "dispatch=1", "finish"]).status().unwrap().code(), Some(0));
    fs::copy(place.path("run.kreplay"), place.path("other.kreplay")).unwrap();
    for part in ["run.kreplay-wal", "run.kreplay-shm", "other.kreplay-wal", "other.kreplay-journal"] {
        let output = place.kreplay(&["report", "run.kreplay", "-o", part]).output().unwrap();
        expect(&output, 116, &[part, "a part of a profile", "hint: write the report to another file"]);
        assert!(!place.path(part).exists());
    }
    // A damage that shows only when names are read: they are no text any more.
    let mut damaged = fs::read(place.path("run.kreplay")).unwrap();
    let places: Vec<usize> = (0..damaged.len()).filter(|at| damaged[*at..].starts_with(b"SQ_WAVES")).collect();
    places.iter().for_each(|at| damaged[*at] = 0xff);
    assert!(!places.is_empty());
    fs::write(place.path("damaged.kreplay"), damaged).unwrap();
    fs::write(place.path("old.txt"), "old").unwrap();
    let output = place.kreplay(&["report", "damaged.kreplay", "-o", "old.txt"]).output().unwrap();
    expect(&output, 118, &["damaged.kreplay is damaged", "hint: "]);
    assert_eq!(fs::read_to_string(place.path("old.txt")).unwrap(), "old");
}
