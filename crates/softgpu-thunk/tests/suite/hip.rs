//! HIP programs, compiled by hipcc, on the software GPU.

use crate::common::{expect, hip_program};

const RIGHT: &str = "18 right, 0 wrong";

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
