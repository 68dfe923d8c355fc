//! The unmodified ROCr on the software GPU, driven by small C programs.

use std::path::Path;
use std::process::Command;

use crate::common::{c_program, expect, library_dir, run, skip};

#[test]
fn agents_queues_copies_and_signals_work() {
    let Some(program) = c_program("basics") else { return };
    for environment in [&[][..], &[("HSA_ENABLE_INTERRUPT", "0")], &[("HSA_ENABLE_SDMA", "0")]] {
        let all = [environment, &[("SOFTGPU_MEMORY_MIB", "256")]].concat();
        expect(&program, &[], &all, "basics ok");
    }
}

#[test]
fn what_cannot_be_executed_is_an_error_that_the_program_sees() {
    let Some(program) = c_program("errors") else { return };
    let output = expect(&program, &[], &[], "errors ok");
    let told = String::from_utf8_lossy(&output.stderr).lines().filter(|l| l.starts_with("softgpu: queue")).count();
    assert_eq!(told, 13, "one line an error");
    expect(&program, &["no-event"], &[("HSA_ENABLE_INTERRUPT", "0")], "errors ok");
}

#[test]
fn a_copy_from_freed_memory_is_a_memory_fault() {
    use std::os::unix::process::ExitStatusExt;

    let Some(program) = c_program("errors") else { return };
    let output = run(&program, &["copy-from-freed"], &[]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    // `timeout` passes the signal on as its own end.
    assert!(output.status.signal() == Some(6) || output.status.code() == Some(134), "{}: {told}", output.status);
    assert!(told.contains("SDMA copy: load of 4096 bytes at"), "{told}");
    assert!(told.contains("Memory access fault by GPU node-1"), "{told}");
}

#[test]
fn device_memory_is_shared_between_processes() {
    let Some(program) = c_program("ipc") else { return };
    expect(&program, &[], &[], "ipc ok");
}

#[test]
fn a_forked_child_has_no_device() {
    let Some(program) = c_program("fork") else { return };
    expect(&program, &[], &[], "fork ok");
}

#[test]
fn the_library_works_preloaded() {
    let Some(program) = c_program("errors") else { return };
    let library = library_dir().join("libhsakmt.so.1");
    let environment = [("LD_LIBRARY_PATH", ""), ("LD_PRELOAD", library.to_str().expect("a plain path"))];
    expect(&program, &[], &environment, "errors ok");
}

#[test]
fn a_setting_that_makes_no_sense_is_named() {
    let Some(program) = c_program("errors") else { return };
    let output = run(&program, &[], &[("SOFTGPU_MEMORY_MIB", "lots")]);
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("softgpu: SOFTGPU_MEMORY_MIB=lots is not a number of MiB"), "{told}");
}

#[test]
fn faults_happen_where_they_are_put_and_nothing_leaks() {
    let Some(program) = c_program("faults") else { return };
    expect(&program, &[], &[], "faults ok");
}

#[test]
fn every_thunk_function_has_the_version_that_rocr_asks_for() {
    let nm = |arguments: &[&str], file: &Path| {
        let output = Command::new("nm").arg("-D").args(arguments).arg(file).output().expect("nm runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("plain names")
    };
    let runtime = Path::new("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1");
    if !runtime.exists() {
        return skip("libhsa-runtime64-1 is needed");
    }
    let exported = nm(&["--defined-only"], &library_dir().join("libhsakmt.so.1"));
    let exported: Vec<&str> = exported.lines().filter_map(|l| l.split_whitespace().last()).collect();
    assert!(exported.iter().filter(|n| n.starts_with("hsaKmt")).all(|n| n.ends_with("@@HSAKMT_1")), "{exported:?}");
    let wanted = nm(&["--undefined-only"], runtime);
    let wanted = wanted.split_whitespace().filter(|n| n.starts_with("hsaKmt"));
    let missing: Vec<&str> = wanted.filter(|n| !exported.contains(&n.replace('@', "@@").as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
