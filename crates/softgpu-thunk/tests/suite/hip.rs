//! HIP programs, compiled by hipcc, on the software GPU.

use std::path::Path;

use crate::common::{expect, hip_program, run, skip};

const RIGHT: &str = "19 right, 0 wrong";

#[test]
fn kernels_are_right_at_every_level_of_optimisation() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let Some(program) = hip_program("kernels", level, &[]) else { return };
        expect(&program, &[], &[], RIGHT);
    }
}

#[test]
fn kernels_are_right_without_copy_engine_and_without_interrupts() {
    let Some(program) = hip_program("kernels", "-O2", &[]) else { return };
    expect(&program, &[], &[("HSA_ENABLE_SDMA", "0")], RIGHT);
    expect(&program, &[], &[("HSA_ENABLE_INTERRUPT", "0")], RIGHT);
}

#[test]
fn kernels_are_right_in_other_orders() {
    let Some(program) = hip_program("kernels", "-O2", &[]) else { return };
    for seed in ["1", "2", "3"] {
        expect(&program, &[], &[("SOFTGPU_SEED", seed)], RIGHT);
    }
    expect(&program, &[], &[("SOFTGPU_THREADS", "1")], RIGHT);
}

#[test]
fn the_oracle_is_exact_and_faults_are_where_they_are_put() {
    let Some(program) = hip_program("oracle", "-O2", &["-ldl"]) else { return };
    expect(&program, &[], &[], "oracle ok");
}

#[test]
fn a_kernel_that_cannot_go_on_is_an_error_and_never_a_completion() {
    let Some(program) = hip_program("bad_kernels", "-O2", &[]) else { return };
    for (kernel, ours, theirs) in [
        (
            "load",
            "load of 4 bytes at 0x7f0000000000, which is not mapped for it, at pc 0x",
            "Memory access fault by GPU",
        ),
        (
            "store",
            "store of 4 bytes at 0x7f0000000000, which is not mapped for it, at pc 0x",
            "Memory access fault by GPU",
        ),
        ("trap", "trap 2 at pc 0x", "HSA_STATUS_ERROR_EXCEPTION"),
        ("unknown", "unknown instruction SOPP opcode 0x7f (0xbfff0000", "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"),
    ] {
        let output = run(&program, &[kernel], &[]);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!output.status.success() && !out.contains("done"), "{kernel}: {out}{err}");
        let line = err.lines().find(|l| l.starts_with("softgpu: queue "));
        assert!(line.is_some_and(|l| l.contains(ours)), "{kernel}: {err}");
        assert!(err.contains(theirs), "{kernel}: {err}");
    }
}

#[test]
fn threads_allocate_copy_launch_and_free_at_the_same_time() {
    let Some(program) = hip_program("threads", "-O2", &[]) else { return };
    for _ in 0..5 {
        expect(&program, &[], &[], "threads ok");
    }
    expect(&program, &[], &[("HSA_ENABLE_SDMA", "0")], "threads ok");
}

/// A library of others, with its own kernels: what it generates against published vectors and its engines on the host.
fn random(generator: &str) {
    if !Path::new("/usr/include/rocrand/rocrand.h").exists() {
        return skip("librocrand-dev is needed");
    }
    let Some(program) = hip_program("random", "-O2", &["-lrocrand"]) else { return };
    expect(&program, &[generator], &[], &format!("{generator} ok"));
}

#[test]
fn rocrand_philox_is_right() {
    random("philox");
}

#[test]
fn rocrand_xorwow_is_right() {
    random("xorwow");
}

#[test]
fn rocrand_mrg_is_right() {
    random("mrg");
}

#[test]
fn rocrand_mtgp_is_right() {
    random("mtgp");
}

#[test]
fn rocrand_sobol_is_right() {
    random("sobol");
}

#[test]
fn the_oracle_and_the_trace_write_a_line_for_each_dispatch() {
    let Some(program) = hip_program("kernels", "-O2", &[]) else { return };
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (oracle, trace) = (dir.path().join("oracle"), dir.path().join("trace"));
    let environment =
        [("SOFTGPU_ORACLE", oracle.to_str().expect("plain")), ("SOFTGPU_TRACE", trace.to_str().expect("plain"))];
    expect(&program, &[], &environment, RIGHT);
    let oracle = std::fs::read_to_string(&oracle).expect("the oracle's file");
    let trace = std::fs::read_to_string(&trace).expect("the trace's file");
    let dispatches = trace.lines().filter(|l| l.contains("\"kind\":\"dispatch\"")).count();
    assert!(dispatches > 200, "four streams of fifty launches, and more");
    // Copies and fills of SDMA queues into device memory have no dispatch.
    let copies = oracle.lines().filter(|line| line.starts_with("{\"dispatch\":0,")).count();
    assert_eq!(oracle.lines().count() - copies, dispatches);
    assert!(copies > 0 && copies <= trace.lines().filter(|line| line.contains("\"kind\":\"sdma_")).count());
    for line in oracle.lines() {
        assert!(line.starts_with("{\"dispatch\":") && line.ends_with("]}"), "{line}");
        for field in
            ["\"queue\":", "\"kernel_object\":", "\"kernarg\":", "\"completion_signal\":", "\"grid\":[", "\"pages\":["]
        {
            assert!(line.contains(field), "{line}");
        }
    }
    assert!(oracle.lines().any(|l| !l.contains("\"stored\":[]")));
}
