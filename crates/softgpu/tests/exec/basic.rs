//! The kernels of a first course, at every optimisation level and in both ABIs.

use crate::support::{Abi, Args, Buffer, Launch, Module, Numbers, build};

/// Runs a test on each way of compiling `basic.hip`.
fn each(test: impl Fn(&Module, Abi)) {
    for optimisation in ["-O0", "-O1", "-O2", "-O3"] {
        for abi in [Abi::V4, Abi::V5] {
            let Some(code) = build("basic", optimisation, abi, &[]) else { return };
            println!("{optimisation} {abi:?}");
            test(&Module::load(&code), abi);
        }
    }
}

fn close(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (n, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance * expected.abs().max(1.0), "[{n}]: {got}, expected {expected}");
    }
}

#[test]
fn vadd() {
    each(|module, abi| {
        let n = 1000;
        let mut numbers = Numbers::new(1);
        let (a, b) = (numbers.floats(n), numbers.floats(n));
        let (ba, bb, bc) = (Buffer::of(&a), Buffer::of(&b), Buffer::for_values::<f32>(n));
        let launch = Launch::new(module, "vadd", abi, 1024, 256);
        let stats = launch.run(Args::new().buffer(&ba).buffer(&bb).buffer(&bc).int(n as i32), &[&bc], &[&ba, &bb]);
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(bc.read::<f32>(), expected);
        assert_eq!((stats.workgroups, stats.waves, stats.workitems), (4, 16, 1024));
        assert_eq!(stats.global_write_bytes, 4 * n as u64);
    });
}

#[test]
fn saxpy_and_scale_in_place() {
    each(|module, abi| {
        let n = 777;
        let mut numbers = Numbers::new(2);
        let (x, y) = (numbers.floats(n), numbers.floats(n));
        let (bx, by) = (Buffer::of(&x), Buffer::of(&y));
        let launch = Launch::new(module, "saxpy", abi, 1024, 128);
        launch.run(Args::new().float(1.5).buffer(&bx).buffer(&by).int(n as i32), &[&by], &[&bx]);
        // The compiler fuses multiplication and addition.
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5f32.mul_add(*x, *y)).collect();
        assert_eq!(by.read::<f32>(), expected);

        let launch = Launch::new(module, "scale", abi, 256, 64);
        launch.run(Args::new().buffer(&by).float(-3.25).int(n as i32), &[&by], &[]);
        let expected: Vec<f32> = expected.iter().map(|y| y * -3.25).collect();
        assert_eq!(by.read::<f32>(), expected);
    });
}

#[test]
fn reduce() {
    each(|module, abi| {
        let n = 5000;
        // Small integers: every order of additions gives the same sum.
        let mut numbers = Numbers::new(3);
        let x: Vec<f32> = (0..n).map(|_| numbers.below(100) as f32).collect();
        let groups = 20;
        let (bx, bp) = (Buffer::of(&x), Buffer::for_values::<f32>(groups));
        let launch = Launch::new(module, "reduce", abi, 256 * groups as u32, 256);
        let stats = launch.run(Args::new().buffer(&bx).buffer(&bp).int(n), &[&bp], &[&bx]);
        let expected: Vec<f32> = x.chunks(256).map(|chunk| chunk.iter().sum()).collect();
        assert_eq!(bp.read::<f32>(), expected);
        assert_eq!(stats.barriers, groups as u64 * 4 * 9);
    });
}

#[test]
fn matmul() {
    each(|module, abi| {
        let n = 48;
        let mut numbers = Numbers::new(4);
        let (a, b) = (numbers.floats(n * n), numbers.floats(n * n));
        let (ba, bb, bc) = (Buffer::of(&a), Buffer::of(&b), Buffer::for_values::<f32>(n * n));
        let launch = Launch {
            grid: [n as u32, n as u32, 1],
            workgroup: [16, 16, 1],
            ..Launch::new(module, "matmul", abi, 1, 1)
        };
        launch.run(Args::new().buffer(&ba).buffer(&bb).buffer(&bc).int(n as i32), &[&bc], &[&ba, &bb]);
        let expected: Vec<f32> = (0..n * n)
            .map(|at| (0..n).fold(0.0f32, |sum, k| a[at / n * n + k].mul_add(b[k * n + at % n], sum)))
            .collect();
        close(&bc.read::<f32>(), &expected, 1e-5);
    });
}

#[test]
fn histogram() {
    each(|module, abi| {
        let n = 10_000;
        let mut numbers = Numbers::new(5);
        let keys: Vec<u32> = (0..n).map(|_| numbers.below(1 << 20)).collect();
        let (bk, bc) = (Buffer::of(&keys), Buffer::of(&[7u32; 64]));
        let launch = Launch { threads: 4, ..Launch::new(module, "histogram", abi, 4096, 128) };
        launch.run(Args::new().buffer(&bk).buffer(&bc).int(n), &[&bc], &[&bk]);
        let mut expected = [7u32; 64];
        keys.iter().for_each(|key| expected[*key as usize & 63] += 1);
        assert_eq!(bc.read::<u32>(), expected);
    });
}

#[test]
fn gather_and_transpose() {
    each(|module, abi| {
        let n = 900;
        let mut numbers = Numbers::new(6);
        let from = numbers.floats(500);
        let index: Vec<u32> = (0..n).map(|_| numbers.below(500)).collect();
        let (bi, bf, bt) = (Buffer::of(&index), Buffer::of(&from), Buffer::for_values::<f32>(n));
        let launch = Launch::new(module, "gather", abi, 1024, 256);
        launch.run(Args::new().buffer(&bi).buffer(&bf).buffer(&bt).int(n as i32), &[&bt], &[&bi, &bf]);
        assert_eq!(bt.read::<f32>(), index.iter().map(|i| from[*i as usize]).collect::<Vec<_>>());

        let (width, height) = (50, 35);
        let input = numbers.floats(width * height);
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<f32>(width * height));
        let launch =
            Launch { grid: [64, 48, 1], workgroup: [16, 16, 1], ..Launch::new(module, "transpose", abi, 1, 1) };
        launch.run(Args::new().buffer(&bi).buffer(&bo).int(width as i32).int(height as i32), &[&bo], &[&bi]);
        let expected: Vec<f32> = (0..width * height).map(|at| input[at % height * width + at / height]).collect();
        assert_eq!(bo.read::<f32>(), expected);
    });
}

#[test]
fn softmax_and_stencil() {
    each(|module, abi| {
        let (rows, n) = (3, 300);
        let mut numbers = Numbers::new(7);
        let input: Vec<f32> = numbers.floats(rows * n).iter().map(|x| x * 10.0).collect();
        let (bi, bo) = (Buffer::of(&input), Buffer::for_values::<f32>(rows * n));
        let launch = Launch::new(module, "softmax", abi, 256 * rows as u32, 256);
        launch.run(Args::new().buffer(&bi).buffer(&bo).int(n as i32), &[&bo], &[&bi]);
        let mut expected = Vec::new();
        for row in input.chunks(n) {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let parts: Vec<f64> = row.iter().map(|x| f64::from(x - most).exp()).collect();
            let sum: f64 = parts.iter().sum();
            expected.extend(parts.iter().map(|part| (part / sum) as f32));
        }
        close(&bo.read::<f32>(), &expected, 1e-6);

        let (width, height) = (70, 40);
        let input = numbers.floats(width * height);
        let (bi, bo) = (Buffer::of(&input), Buffer::of(&vec![9.0f32; width * height]));
        let launch = Launch { grid: [96, 40, 1], workgroup: [32, 4, 1], ..Launch::new(module, "stencil", abi, 1, 1) };
        launch.run(Args::new().buffer(&bi).buffer(&bo).int(width as i32).int(height as i32), &[&bo], &[&bi]);
        let mut expected = vec![9.0f32; width * height];
        for y in 1..height - 1 {
            for x in 1..width - 1 {
                let at = y * width + x;
                let around = input[at - 1] + input[at + 1] + input[at - width] + input[at + width];
                expected[at] = 0.5 * input[at] + 0.125 * around;
            }
        }
        close(&bo.read::<f32>(), &expected, 1e-6);
    });
}

#[test]
fn dgemv() {
    each(|module, abi| {
        let n = 100;
        let mut numbers = Numbers::new(8);
        let (a, x) = (numbers.doubles(n * n), numbers.doubles(n));
        let (ba, bx, by) = (Buffer::of(&a), Buffer::of(&x), Buffer::for_values::<f64>(n));
        let launch = Launch::new(module, "dgemv", abi, 128, 64);
        launch.run(Args::new().buffer(&ba).buffer(&bx).buffer(&by).int(n as i32), &[&by], &[&ba, &bx]);
        let expected: Vec<f64> =
            (0..n).map(|row| (0..n).fold(0.0f64, |sum, k| a[row * n + k].mul_add(x[k], sum))).collect();
        for (got, expected) in by.read::<f64>().into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-13, "{got}, expected {expected}");
        }
    });
}
