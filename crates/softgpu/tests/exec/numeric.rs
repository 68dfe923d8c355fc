//! Arithmetic of every width against the host's.

use crate::support::{Abi, Args, Buffer, Launch, Module, Numbers, build};

fn each(test: impl Fn(&Module)) {
    for optimisation in ["-O0", "-O1", "-O2", "-O3"] {
        let Some(code) = build("numeric", optimisation, Abi::V5, &[]) else { return };
        println!("{optimisation}");
        test(&Module::load(&code));
    }
}

/// Runs a kernel of two inputs and `per_item` outputs an item.
fn run<A: Copy, O: Copy>(module: &Module, kernel: &str, inputs: &[&[A]], per_item: usize) -> Vec<O> {
    let items = inputs[0].len();
    assert_eq!(items % 64, 0);
    let buffers: Vec<Buffer> = inputs.iter().map(|input| Buffer::of(input)).collect();
    let out = Buffer::for_values::<O>(items * per_item);
    let args = buffers.iter().fold(Args::new(), Args::buffer).buffer(&out);
    Launch::new(module, kernel, Abi::V5, items as u32, 64).run(args, &[&out], &buffers.iter().collect::<Vec<_>>());
    out.read()
}

/// The value of a half by its definition.
fn half_value(half: u16) -> f64 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    match exponent {
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        0 => sign * fraction * 2f64.powi(-24),
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// The nearest half, ties to even, found by looking at all of them.
fn nearest_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let value = value.abs();
    if value.is_nan() {
        return 0x7e00;
    }
    // Halves ascend with their bits. The largest finite one is followed by what would be 65536.
    let at = |half: u16| if half == 0x7c00 { 65536.0 } else { half_value(half) };
    let low = (0..=0x7bff).rev().find(|half| at(*half) <= value).expect("zero is not above");
    let middle = (at(low) + at(low + 1)) / 2.0;
    sign | if value > middle || value == middle && low & 1 != 0 { low + 1 } else { low }
}

fn same_half(got: u16, expected: f64, tolerance: u16, what: &str) {
    let expected = nearest_half(expected);
    let nan = |half: u16| half & 0x7fff > 0x7c00;
    let near = got & 0x8000 == expected & 0x8000 && (got & 0x7fff).abs_diff(expected & 0x7fff) <= tolerance;
    assert!(near || nan(got) && nan(expected), "{what}: {got:#06x}, expected {expected:#06x}");
}

fn some_halves(numbers: &mut Numbers, count: usize) -> Vec<u16> {
    let special = [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0x3c00, 0xbc00, 0x7e00];
    (0..count)
        .map(|n| match n % 4 {
            0 => special[numbers.below(special.len() as u32) as usize],
            1 => numbers.bits() as u16,
            _ => 0x3000 | numbers.bits() as u16 & 0x8fff,
        })
        .collect()
}

#[test]
fn halves() {
    each(|module| {
        let mut numbers = Numbers::new(11);
        let n = 256;
        let [a, b, c] = std::array::from_fn(|_| some_halves(&mut numbers, n));
        let out: Vec<u16> = run(module, "halves", &[&a, &b, &c], 6);
        for i in 0..n {
            let [x, y, z] = [a[i], b[i], c[i]].map(half_value);
            let o = &out[6 * i..6 * i + 6];
            let what = |k: u32| format!("[{k}] of {x}, {y}, {z}");
            same_half(o[0], x + y, 0, &what(0));
            // Fused or not, as the compiler likes.
            let product = half_value(nearest_half(x * y));
            let fused = o[1] == nearest_half(x.mul_add(y, -z)) || o[1] == nearest_half(product - z);
            assert!(fused || half_value(o[1]).is_nan() && (product - z).is_nan(), "{}", what(1));
            same_half(o[2], x.mul_add(y, z), 0, &what(2));
            same_half(o[3], x / y, 1, &what(3));
            let most = if x.is_nan() {
                y
            } else if y.is_nan() {
                x
            } else {
                x.max(y)
            };
            assert!(half_value(o[4]) == most || most.is_nan() && half_value(o[4]).is_nan(), "{}", what(4));
            // The compiler may multiply and add +0, which turns −0 into +0.
            let scaled = f64::from((x as f32) * 1.25);
            same_half(o[5], if o[5] == 0 { scaled + 0.0 } else { scaled }, 0, &what(5));
        }
    });
}

#[test]
fn packed_halves() {
    each(|module| {
        let mut numbers = Numbers::new(12);
        let n = 128;
        let [a, b]: [Vec<[u16; 2]>; 2] =
            std::array::from_fn(|_| some_halves(&mut numbers, 2 * n).chunks(2).map(|c| [c[0], c[1]]).collect());
        let out: Vec<[u16; 2]> = run(module, "packed_halves", &[&a, &b], 3);
        for i in 0..n {
            for h in 0..2 {
                let (x, y, other) = (half_value(a[i][h]), half_value(b[i][h]), half_value(a[i][1 - h]));
                same_half(out[3 * i][h], x + y, 0, "sum");
                same_half(out[3 * i + 1][h], x * y, 0, "product");
                let got = out[3 * i + 2][h];
                let fused = x.mul_add(other, -y);
                let twice = half_value(nearest_half(x * other)) - y;
                let either = got == nearest_half(fused) || got == nearest_half(twice);
                assert!(either || half_value(got).is_nan() && twice.is_nan(), "{x} * {other} - {y}: {got:#06x}");
            }
        }
    });
}

fn some_longs(numbers: &mut Numbers, count: usize) -> Vec<i64> {
    let special = [1, -1, i64::MAX, i64::MIN + 1, 2, 3, 10, 1 << 32, -(1 << 31), 0xffff_ffff];
    (0..count)
        .map(|n| match n % 3 {
            0 => special[numbers.below(special.len() as u32) as usize],
            1 => (numbers.bits() >> numbers.below(63)) as i64 | 1,
            _ => numbers.bits() as i64 | 1,
        })
        .collect()
}

#[test]
fn longs() {
    each(|module| {
        let mut numbers = Numbers::new(13);
        let n = 512;
        let (a, b) = (some_longs(&mut numbers, n), some_longs(&mut numbers, n));
        let out: Vec<i64> = run(module, "longs", &[&a, &b], 12);
        for i in 0..n {
            let (x, y) = (a[i], b[i]);
            let (ux, uy) = (x as u64, y as u64);
            let by = (y & 63) as u32;
            let expected = [
                x.wrapping_add(y),
                x.wrapping_sub(y),
                x.wrapping_mul(y),
                x.wrapping_div(y),
                x.wrapping_rem(y),
                (ux / uy) as i64,
                (ux % uy) as i64,
                x >> by,
                (ux >> by) as i64,
                x << by,
                ((i128::from(x) * i128::from(y)) >> 64) as i64,
                i64::from(x < y)
                    + 2 * i64::from(ux < uy)
                    + 4 * i64::from(ux.count_ones())
                    + 512 * i64::from(x.leading_zeros()),
            ];
            assert_eq!(out[12 * i..12 * i + 12], expected, "{x} and {y}");
        }
    });
}

#[test]
fn ints() {
    each(|module| {
        let mut numbers = Numbers::new(14);
        let n = 512;
        let [a, b]: [Vec<i32>; 2] =
            std::array::from_fn(|_| some_longs(&mut numbers, n).iter().map(|x| *x as i32 | 1).collect());
        let out: Vec<i32> = run(module, "ints", &[&a, &b], 16);
        for i in 0..n {
            let (x, y) = (a[i], b[i]);
            let (ux, uy) = (x as u32, y as u32);
            let expected = [
                x.wrapping_div(y),
                x.wrapping_rem(y),
                (ux / uy) as i32,
                (ux % uy) as i32,
                x >> (y & 31),
                ((i64::from(x) * i64::from(y)) >> 32) as i32,
                ((u64::from(ux) * u64::from(uy)) >> 32) as i32,
                ux.rotate_left(13) as i32 ^ y,
                i32::from(x as i8) * i32::from(y as i8) + i32::from((ux >> 8) as u8),
                (i32::from(x as i16) * i32::from(y as i16)).wrapping_add(i32::from((ux >> 16) as u16)),
                i32::from(x.wrapping_add(y) as i8),
                i32::from(ux.wrapping_mul(uy) as u16),
                (ux.reverse_bits() as i32)
                    .wrapping_add(x.trailing_zeros() as i32 + 1)
                    .wrapping_add(y.leading_zeros() as i32)
                    .wrapping_add(ux.count_ones() as i32),
                x.saturating_add(y),
                ux.saturating_sub(uy) as i32,
                x.min(y).wrapping_add(ux.max(uy) as i32).wrapping_sub(x.wrapping_abs()),
            ];
            assert_eq!(out[16 * i..16 * i + 16], expected, "{x} and {y}");
        }
    });
}

#[test]
fn bytes() {
    each(|module| {
        let mut numbers = Numbers::new(15);
        let n = 256;
        let [a, b]: [Vec<u8>; 2] = std::array::from_fn(|_| (0..n).map(|_| numbers.bits() as u8).collect());
        let out: Vec<u8> = run(module, "bytes", &[&a, &b], 4);
        for i in 0..n {
            let (x, y) = (a[i], b[i] as i8);
            let expected =
                [x.wrapping_add(y as u8), x.wrapping_mul(y as u8), x >> (y & 7), if y < 0 { !x } else { x ^ 0x55 }];
            assert_eq!(out[4 * i..4 * i + 4], expected, "{x} and {y}");
        }
    });
}

/// The error function of small numbers, by its Taylor series.
fn erf(x: f64) -> f64 {
    assert!(x.abs() <= 3.0);
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-18 * sum.abs() && n < 400.0 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn near(got: f64, expected: f64, tolerance: f64, what: &str) {
    let both_nan = got.is_nan() && expected.is_nan();
    let error = (got - expected).abs();
    assert!(
        both_nan || got == expected || error <= tolerance * expected.abs().max(1e-3),
        "{what}: {got:e}, expected {expected:e}"
    );
}

#[test]
fn doubles() {
    each(|module| {
        let mut numbers = Numbers::new(16);
        let n = 256;
        let mut some = |limit: f64| -> Vec<f64> { numbers.doubles(n).iter().map(|x| x * limit).collect() };
        let (mut a, b) = (some(30.0), some(20.0));
        // Angles that need the long reduction, and exact cases.
        a[..8].copy_from_slice(&[1e5, 1e10, 1e22, -3e100, 1e300, 0.5, 4.0, -1.0]);
        let out: Vec<f64> = run(module, "doubles", &[&a, &b], 16);
        for i in 0..n {
            let (x, y) = (a[i], b[i]);
            let o = &out[16 * i..16 * i + 16];
            assert_eq!(o[0], x / y, "{x} / {y}");
            assert_eq!(o[1], x.abs().sqrt());
            let expected = [
                (2, x.sin(), 4e-13),
                (3, x.cos(), 4e-13),
                (4, (x * 0.01).exp(), 1e-15),
                (5, x.abs().ln(), 2e-13),
                (6, x.abs().powf(y * 0.01), 1e-15),
                (8, x.mul_add(y, -x), 0.0),
                (9, x.tanh(), 1e-15),
                (10, x.atan2(y), 1e-15),
                (11, x.cbrt(), 1e-15),
                (12, x % y, 0.0),
                (14, 1.0 / y.abs().sqrt(), 1e-15),
            ];
            for (k, expected, tolerance) in expected {
                near(o[k], expected, tolerance, &format!("[{k}] of {x:e}, {y:e}"));
            }
            if x.abs() <= 30.0 {
                near(o[7], x.floor() + y.trunc() + (x * y).round_ties_even(), 0.0, "rounding");
                let sum = f64::from(x as f32) + f64::from(y as i32) + (x as i64) as f64;
                near(o[13], sum, 0.0, "conversions");
                near(o[15], x.min(y) + x * 32.0 + erf(x * 0.1), 1e-13, "minimum, ldexp, erf");
            }
        }
    });
}

#[test]
fn singles() {
    each(|module| {
        let mut numbers = Numbers::new(17);
        let n = 256;
        let mut some = |limit: f32| -> Vec<f32> { numbers.floats(n).iter().map(|x| x * limit).collect() };
        let (mut a, mut b) = (some(30.0), some(20.0));
        a[..9].copy_from_slice(&[1e5, 1e10, 1e22, -3e30, 1e38, 1e-39, 4.0, -1.0, 3e-45]);
        b[3..9].copy_from_slice(&[1e-10, 1e38, 1e38, 2.0, 3.0, 5.0]);
        let out: Vec<f32> = run(module, "singles", &[&a, &b], 16);
        for i in 0..n {
            let (x, y) = (a[i], b[i]);
            let (dx, dy) = (f64::from(x), f64::from(y));
            let o = &out[16 * i..16 * i + 16];
            assert_eq!(o[0], x / y, "{x:e} / {y:e}");
            assert_eq!(o[1], x.abs().sqrt(), "sqrt {x:e}");
            let expected = [
                (2, dx.sin(), 2e-4),
                (3, dx.cos(), 2e-4),
                (4, (f64::from(x * 0.01f32)).exp(), 3e-7),
                (5, dx.abs().ln(), 1e-4),
                (6, dx.abs().powf(f64::from(y * 0.01f32)), 3e-7),
                (9, dx.tanh(), 3e-7),
                (10, dx.atan2(dy), 3e-7),
                (11, dx.cbrt(), 3e-7),
                (12, f64::from(x % y), 0.0),
                (14, 1.0 / dy.abs().sqrt(), 3e-7),
            ];
            for (k, expected, tolerance) in expected {
                near(f64::from(o[k]), f64::from(expected as f32), tolerance, &format!("[{k}] of {x:e}, {y:e}"));
            }
            assert_eq!(o[8], x.mul_add(y, -x), "fma of {x:e}, {y:e}");
            if x.abs() <= 30.0 && y.abs() <= 20.0 {
                let parts = x.floor() + y.trunc() + (x * y).round_ties_even();
                near(f64::from(o[7]), f64::from(parts), 0.0, "rounding");
                let sum = (x.abs() as u32) as f32 + (y as i32) as f32 + (x as i64) as f32;
                near(f64::from(o[13]), f64::from(sum), 0.0, "conversions");
                near(
                    f64::from(o[15]),
                    f64::from(x.min(y) + x * 32.0) + erf(f64::from(x * 0.1f32)),
                    1e-6,
                    "minimum, ldexp, erf",
                );
            }
        }
    });
}

#[test]
fn conversions() {
    each(|module| {
        let mut numbers = Numbers::new(18);
        let n = 256;
        let mut a: Vec<f64> = numbers.doubles(n).iter().map(|x| x * 2f64.powi(40)).collect();
        a[..6].copy_from_slice(&[0.0, -0.5, 2147483646.9, -2147483648.0, 1e15, 9e18]);
        a[6..64].iter_mut().for_each(|x| *x *= 1e5);
        let out: Vec<i64> = run(module, "conversions", &[&a], 6);
        for (i, x) in a.iter().enumerate() {
            let o = &out[6 * i..6 * i + 6];
            assert_eq!(o[0], *x as i64, "{x}");
            assert_eq!(o[1] as u64, x.abs() as u64, "{x}");
            if x.abs() < 2147483649.0 {
                assert_eq!(o[2], i64::from(*x as i32), "{x}");
            }
            assert_eq!(f64::from_bits(o[3] as u64), (*x as i64) as f64, "{x}");
            assert_eq!(f32::from_bits(o[4] as u32), (x.abs() as u64) as f32, "{x}");
            assert_eq!(f32::from_bits(o[5] as u32), (*x as i64) as f32, "{x}");
        }
    });
}
