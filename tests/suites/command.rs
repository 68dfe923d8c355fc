//! The command from outside: exit codes, bad input, and that the program's own input and output stay its own.
#![forbid(unsafe_code)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use kreplay_store::Reader;
use kreplay_tests::{Ended, Profile, binary, build_folder, run};

fn kreplay<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ended {
    run(Command::new(binary("kreplay")).args(arguments))
}

/// Profiles a program of the system that uses no GPU.
fn profiled(program: &[&str]) -> Ended {
    Profile::new().run(Path::new(program[0]), program[1..].iter().copied()).ended
}

/// Refused with this code and a message that holds this text, and nothing on standard output.
fn assert_refused(ended: &Ended, code: i32, text: &str) {
    assert_eq!(ended.code(), code, "{ended:#?}");
    assert!(ended.stderr.contains(text), "{text} is not in the message: {}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_wrong_command_line_ends_with_116() {
    assert_refused(&kreplay(["profile", "--nonsense", "--", "true"]), 116, "--nonsense");
    assert_refused(&kreplay(["profile", "-c", "SQ_WAVES"]), 116, "PROGRAM");
    assert_refused(&kreplay(["profile", "--passes", "0", "--", "true"]), 116, "--passes");
}

#[test]
fn a_missing_library_ends_with_117() {
    let empty = tempfile::tempdir().expect("a folder can be made");
    let ended = Profile::new().environment("KREPLAY_LIB_DIR", empty.path()).run(Path::new("true"), []).ended;
    assert_refused(&ended, 117, "libkreplay.so");
}

#[test]
fn a_missing_file_ends_with_118() {
    assert_refused(&kreplay(["report", "/nowhere/run.kreplay"]), 118, "/nowhere/run.kreplay");
    let ended = kreplay(["profile", "--device", "soft", "-o", "/nowhere/run.kreplay", "--", "true"]);
    assert_refused(&ended, 118, "/nowhere");
}

#[test]
fn a_missing_program_ends_with_119() {
    assert_refused(&profiled(&["/nowhere/program"]), 119, "/nowhere/program");
}

#[test]
fn an_unknown_counter_ends_with_120() {
    let ended = Profile::new().options(["-c", "SQ_WAVEZ"]).run(Path::new("true"), []).ended;
    assert_refused(&ended, 120, "SQ_WAVES");
    assert_refused(&kreplay(["plan", "--device", "soft", "-c", "SQ_WAVEZ"]), 120, "SQ_WAVES");
}

#[test]
fn a_bad_filter_is_refused_before_the_program_runs() {
    let ended = Profile::new().options(["--kernel", "("]).run(Path::new("echo"), ["ran"]).ended;
    assert_ne!(ended.code(), 0);
    assert_eq!(ended.stdout, "", "the program ran all the same");
}

#[test]
fn the_programs_exit_code_is_passed_on() {
    assert_eq!(profiled(&["sh", "-c", "exit 7"]).code(), 7);
    assert_eq!(profiled(&["sh", "-c", "kill -TERM $$"]).code(), 128 + 15);
}

#[test]
fn the_programs_input_and_output_are_its_own() {
    let profile = Profile::new();
    let (mut command, _) = profile.command(Path::new("sh"), ["-c", "cat; echo to stderr >&2"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command can be started");
    child.stdin.take().expect("it was asked for").write_all(b"from stdin\n").expect("it can be written to");
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "from stdin\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "to stderr\n", "--quiet leaves standard error to the program");
}

#[test]
fn children_are_processes_of_their_own_in_one_file() {
    let steady = binary("steady");
    let script = format!("{0} 3 & {0} 4 & wait", steady.display());
    let profiled = Profile::new().passes(2).run(Path::new("sh"), ["-c", &script]);
    assert_eq!(profiled.ended.code(), 0, "{:#?}", profiled.ended);
    let reader = Reader::open(&profiled.file).unwrap_or_else(|error| panic!("{error}"));
    let processes = reader.processes().unwrap_or_else(|error| panic!("{error}"));
    let mut records: Vec<u64> =
        processes.iter().map(|process| process.records).filter(|records| *records > 0).collect();
    records.sort_unstable();
    assert_eq!(records, [3, 4], "{processes:#?}");
}

#[test]
fn an_existing_file_is_not_replaced_unasked() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("kept");
    fs::write(&file, "precious").expect("a file can be written");
    let path = file.to_str().expect("temporary names are plain");
    for overwrite in [&["--overwrite"][..], &[]] {
        let arguments = ["profile", "--device", "soft", "-o", path].into_iter().chain(overwrite.iter().copied());
        assert_refused(&kreplay(arguments.chain(["--", "echo", "ran"])), 118, path);
        assert_eq!(fs::read_to_string(&file).expect("it is still there"), "precious");
    }
}

#[test]
fn invariant_9_what_is_no_profile_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let good = kreplay_tests::readers::store_seed();
    let mut newer = good.clone();
    // The version of the file's format: SQLite's user version, big endian at 60.
    newer[60..64].copy_from_slice(&9999u32.to_be_bytes());
    let mut foreign = good.clone();
    // Whose file it is: SQLite's application id, big endian at 68.
    foreign[68..72].copy_from_slice(&[0; 4]);
    let mut damaged = good.clone();
    damaged[4096..].fill(0x5a);
    let cases: [(&str, &[u8]); 6] = [
        ("empty", &[]),
        ("text", b"not a profile"),
        ("newer", &newer),
        ("foreign", &foreign),
        ("damaged", &damaged),
        ("cut", &good[..good.len() / 2]),
    ];
    for (name, bytes) in cases {
        let file = folder.path().join(name);
        fs::write(&file, bytes).expect("a file can be written");
        for format in ["table", "csv", "json"] {
            let ended = kreplay(["report", file.to_str().expect("temporary names are plain"), "--format", format]);
            assert_refused(&ended, 118, name);
        }
        assert_eq!(fs::read(&file).expect("it is still there"), bytes, "{name} was written to");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder can be read").count(), cases.len());
    let whole = folder.path().join("whole");
    fs::write(&whole, &good).expect("a file can be written");
    assert_eq!(kreplay(["report", whole.to_str().expect("temporary names are plain")]).code(), 0);
}

#[test]
fn doctor_finds_the_software_gpu() {
    let ended = kreplay(["doctor"]);
    assert_eq!(ended.code(), 0, "{ended:#?}");
    for text in ["gfx90a", "libhsa-runtime64", &build_folder().to_string_lossy()] {
        assert!(ended.stdout.contains(text), "{text} is not in:\n{}", ended.stdout);
    }
}

#[test]
fn plan_tells_the_passes_before_anything_runs() {
    let one = kreplay(["plan", "--device", "soft", "-c", "SQ_WAVES"]);
    let many =
        kreplay(["plan", "--device", "soft", "-c", "SQ_WAVES,SQ_INSTS_VALU,TCC_READ,TCC_WRITE", "--passes", "3"]);
    assert_eq!((one.code(), many.code()), (0, 0), "{one:#?}\n{many:#?}");
    assert!(many.stdout.lines().count() > one.stdout.lines().count(), "{}\n{}", one.stdout, many.stdout);
}
