//! How fast the interpreter is; printed, never asserted.

use crate::support::{Abi, Args, Buffer, Launch, Module, build};

/// Processor time of this process: other programs on the machine do not count.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the call to fill in.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs kernels and prints wave instructions a second.
#[test]
#[ignore = "a measurement: cargo test --release --test exec speed -- --ignored --nocapture"]
fn wave_instructions_a_second() {
    let Some(code) = build("basic", "-O2", Abi::V5, &[]) else { return };
    let module = Module::load(&code);
    let measure = |name: &str, launch: &Launch<'_>, args: &dyn Fn() -> Args, buffers: &[&Buffer]| {
        let started = cpu_seconds();
        let mut insts = 0;
        for _ in 0..5 {
            insts += launch.run(args(), buffers, &[]).insts;
        }
        let seconds = cpu_seconds() - started;
        println!(
            "{name}: {:.1} M wave instructions a second ({insts} in {seconds:.3} s)",
            insts as f64 / seconds / 1e6
        );
    };
    let n = 1 << 20;
    let a = Buffer::of(&vec![1.0f32; n]);
    let b = Buffer::of(&vec![2.0f32; n]);
    let c = Buffer::for_values::<f32>(n);
    let launch = Launch::new(&module, "vadd", Abi::V5, n as u32, 256);
    measure("vadd", &launch, &|| Args::new().buffer(&a).buffer(&b).buffer(&c).int(n as i32), &[&a, &b, &c]);
    let size = 256;
    let launch =
        Launch { grid: [size, size, 1], workgroup: [16, 16, 1], ..Launch::new(&module, "matmul", Abi::V5, 1, 1) };
    measure("matmul", &launch, &|| Args::new().buffer(&a).buffer(&b).buffer(&c).int(size as i32), &[&a, &b, &c]);
    let launch = Launch::new(&module, "reduce", Abi::V5, n as u32, 256);
    measure("reduce", &launch, &|| Args::new().buffer(&a).buffer(&c).int(n as i32), &[&a, &c]);
    let launch = Launch::new(&module, "softmax", Abi::V5, 256 * 64, 256);
    measure("softmax", &launch, &|| Args::new().buffer(&a).buffer(&c).int(4096), &[&a, &c]);
    let launch = Launch::new(&module, "dgemv", Abi::V5, 512, 64);
    measure("dgemv", &launch, &|| Args::new().buffer(&a).buffer(&b).buffer(&c).int(512), &[&a, &b, &c]);
}
