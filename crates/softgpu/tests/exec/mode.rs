//! Rounding and denormal modes, modifiers, register indexing; and what the interpreter tells about a dispatch.

use crate::support::{Abi, Args, Buffer, Launch, Module, Numbers, build};

fn each(test: impl Fn(&Module)) {
    for optimisation in ["-O1", "-O3"] {
        let Some(code) = build("mode", optimisation, Abi::V5, &[]) else { return };
        test(&Module::load(&code));
    }
}

/// Rounds an exact result the way of a mode, given as the nearest single and whether the exact one is above (`Greater`)
/// or below it.
fn directed(nearest: f32, exact: std::cmp::Ordering, rounding: u32) -> f32 {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (rounding, exact) {
        (0, _) | (_, Equal) => nearest,
        (1, Greater) => nearest.next_up(),
        (2, Less) => nearest.next_down(),
        (3, Greater) if nearest < 0.0 => nearest.next_up(),
        (3, Less) if nearest > 0.0 => nearest.next_down(),
        _ => nearest,
    }
}

#[test]
fn rounding_of_singles() {
    each(|module| {
        let n = 256;
        let mut numbers = Numbers::new(31);
        let [a, b, c] = std::array::from_fn(|_| numbers.floats(n));
        for rounding in 0..4 {
            let [ba, bb, bc] = [&a, &b, &c].map(|x| Buffer::of(x));
            let out = Buffer::for_values::<f32>(5 * n);
            let args = Args::new().buffer(&ba).buffer(&bb).buffer(&bc).buffer(&out).int(0xf0 | rounding as i32);
            Launch::new(module, "singles", Abi::V5, n as u32, 64).run(args, &[&out], &[&ba, &bb, &bc]);
            let out = out.read::<f32>();
            for i in 0..n {
                let [x, y, z] = [a[i], b[i], c[i]];
                let [dx, dy, dz] = [x, y, z].map(f64::from);
                // These are exact in double but for the fused sum, whose rounding is far below a single's.
                let round = |exact: f64| {
                    let nearest = exact as f32;
                    directed(nearest, exact.total_cmp(&f64::from(nearest)), rounding)
                };
                let integer = x.to_bits() as i32;
                let expected = [round(dx + dy), round(dx * dy), round(dx * dy + dz), round(dx - dy), {
                    round(f64::from(integer))
                }];
                assert_eq!(out[5 * i..5 * i + 5], expected, "mode {rounding} of {x:e}, {y:e}, {z:e}");
            }
        }
    });
}

#[test]
fn rounding_of_doubles() {
    each(|module| {
        let n = 128;
        let mut numbers = Numbers::new(32);
        let [a, b, c] = std::array::from_fn(|_| numbers.doubles(n));
        for rounding in 0..4u32 {
            let [ba, bb, bc] = [&a, &b, &c].map(|x| Buffer::of(x));
            let out = Buffer::for_values::<f64>(3 * n);
            let args = Args::new().buffer(&ba).buffer(&bb).buffer(&bc).buffer(&out).int(0xf0 | (rounding << 2) as i32);
            Launch::new(module, "doubles", Abi::V5, n as u32, 64).run(args, &[&out], &[&ba, &bb, &bc]);
            let out = out.read::<f64>();
            for i in 0..n {
                let [x, y, z] = [a[i], b[i], c[i]];
                let sum = x + y;
                // The rounding error of a sum and of a product, exactly.
                let back = sum - x;
                let sum_error = (x - (sum - back)) + (y - back);
                let product = x * y;
                let product_error = x.mul_add(y, -product);
                let near = |got: f64, nearest: f64, error: f64| {
                    let expected = match rounding {
                        1 if error > 0.0 => nearest.next_up(),
                        2 if error < 0.0 => nearest.next_down(),
                        3 if error > 0.0 && nearest < 0.0 => nearest.next_up(),
                        3 if error < 0.0 && nearest > 0.0 => nearest.next_down(),
                        _ => nearest,
                    };
                    assert_eq!(got, expected, "mode {rounding} of {x:e}, {y:e}");
                };
                near(out[3 * i], sum, sum_error);
                near(out[3 * i + 1], product, product_error);
                let fused = x.mul_add(y, z);
                let got = out[3 * i + 2];
                assert!(got == fused || got == fused.next_up() || got == fused.next_down());
                assert!(rounding != 1 || got >= fused);
                assert!(rounding != 2 || got <= fused);
            }
        }
    });
}

#[test]
fn denormals_are_flushed_as_the_mode_says() {
    each(|module| {
        let tiny = f32::from_bits(0x0000_1234);
        let small = f32::MIN_POSITIVE;
        // Bit 4 keeps inputs, bit 5 keeps results.
        for mode in [0xf0, 0xd0, 0xe0, 0xc0] {
            let (keep_in, keep_out) = (mode & 0x10 != 0, mode & 0x20 != 0);
            let a = vec![tiny, -tiny, small, small * 1.5];
            let b = vec![1.0, 0.0, 0.5, -small];
            let mut padded = [a.clone(), b.clone()];
            padded.iter_mut().for_each(|x| x.resize(64, 1.0));
            let [ba, bb] = padded.each_ref().map(|x| Buffer::of(x));
            let bc = Buffer::of(&[0.0f32; 64]);
            let out = Buffer::for_values::<f32>(5 * 64);
            let args = Args::new().buffer(&ba).buffer(&bb).buffer(&bc).buffer(&out).int(mode);
            Launch::new(module, "singles", Abi::V5, 64, 64).run(args, &[&out], &[&ba, &bb, &bc]);
            let out = out.read::<f32>();
            let flush = |x: f32, keep: bool| if x.is_subnormal() && !keep { 0.0f32.copysign(x) } else { x };
            for i in 0..4 {
                let (x, y) = (flush(a[i], keep_in), flush(b[i], keep_in));
                let expected = [x + y, x * y, x.mul_add(y, 0.0), x - y].map(|r| flush(r, keep_out));
                let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&out[5 * i..5 * i + 4]), bits(&expected), "mode {mode:#x} of {x:e}, {y:e}");
            }
        }
    });
}

#[test]
fn modifiers() {
    each(|module| {
        let a: Vec<f32> = (0..64).map(|i| i as f32 / 16.0 - 2.0).collect();
        let (ba, out) = (Buffer::of(&a), Buffer::for_values::<f32>(6 * 64));
        Launch::new(module, "modifiers", Abi::V5, 64, 64).run(Args::new().buffer(&ba).buffer(&out), &[&out], &[&ba]);
        let out = out.read::<f32>();
        for (i, x) in a.iter().enumerate() {
            let unit = x.clamp(0.0, 1.0);
            let expected = [unit, x.abs() * 2.0, -x / 2.0, -x.abs() * 4.0, unit, x.clamp(0.5, 1.0)];
            assert_eq!(out[6 * i..6 * i + 6], expected, "{x}");
        }
    });
}

#[test]
fn register_files() {
    each(|module| {
        let out = Buffer::for_values::<i32>(3 * 64);
        Launch::new(module, "registers", Abi::V5, 64, 64).run(Args::new().buffer(&out), &[&out], &[]);
        let expected: Vec<i32> = (0..64).flat_map(|i| [i + 7, 42, 2 * i]).collect();
        assert_eq!(out.read::<i32>(), expected);
    });
}

#[test]
fn announced_writes_are_the_writes() {
    let Some(code) = build("basic", "-O2", Abi::V5, &[]) else { return };
    let module = Module::load(&code);
    let n = 1000;
    let (x, y) = (Buffer::of(&vec![1.0f32; n]), Buffer::of(&vec![2.0f32; n]));
    let launch = Launch::new(&module, "saxpy", Abi::V5, 1024, 256);
    let (result, written) =
        launch.run_observed(Args::new().float(2.0).buffer(&x).buffer(&y).int(n as i32), &[&y], &[&x]);
    result.expect("the dispatch ends well");
    let mut bytes = vec![0; 4 * n];
    for (address, count) in written {
        let at = (address - y.address()) as usize;
        bytes[at..at + count as usize].iter_mut().for_each(|b| *b += 1);
    }
    assert_eq!(bytes, vec![1; 4 * n], "each byte of the output is announced once");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let Some(code) = build("wave", "-O2", Abi::V5, &["-munsafe-fp-atomics"]) else { return };
    let module = Module::load(&code);
    // Sums of floats of many sizes depend on the order of the additions.
    let run = |seed| {
        let u = Buffer::of(&[0u32; 16]);
        let (s, l) = (Buffer::of(&[0i32; 2]), Buffer::of(&[0u64; 4]));
        let (f, d) = (Buffer::of(&[0.1f32, 0.3]), Buffer::of(&[0.0f64; 2]));
        let launch = Launch { seed, threads: 4, ..Launch::new(&module, "atomics", Abi::V5, 4096, 256) };
        let stats =
            launch.run(Args::new().buffer(&u).buffer(&s).buffer(&l).buffer(&f).buffer(&d), &[&u, &s, &l, &f, &d], &[]);
        (u.read::<u32>(), l.read::<u64>(), f.read::<u32>(), stats)
    };
    for seed in 0..5 {
        assert_eq!(run(Some(seed)), run(Some(seed)));
    }
}

#[test]
fn code_that_replaces_other_code_is_decoded_anew() {
    let Some(code) = build("basic", "-O2", Abi::V5, &[]) else { return };
    let module = Module::load(&code);
    let x = Buffer::of(&[1.0f32; 64]);
    let launch = Launch::new(&module, "scale", Abi::V5, 64, 64);
    let run = || launch.run(Args::new().buffer(&x).float(3.0).int(64), &[&x], &[]);
    run();
    assert_eq!(x.read::<f32>(), [3.0; 64]);
    // The kernel becomes one that ends at once.
    let descriptor = module.kernel("scale");
    let image = module.image();
    let at = (descriptor - image.address()) as usize;
    let bytes = image.read::<u8>();
    let offset = i64::from_le_bytes(bytes[at + 16..at + 24].try_into().expect("eight bytes"));
    let entry = (at as i64 + offset) as usize;
    let mut replaced = bytes.clone();
    replaced[entry..entry + 4].copy_from_slice(&0xbf81_0000u32.to_le_bytes());
    image.write(&replaced);
    let stats = run();
    assert_eq!((x.read::<f32>(), stats.insts), (vec![3.0; 64], 1));
    image.write(&bytes);
    run();
    assert_eq!(x.read::<f32>(), [9.0; 64]);
}
