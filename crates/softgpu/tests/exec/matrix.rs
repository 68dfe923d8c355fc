//! Matrix instructions against plain loops, with their layouts written down kind by kind.

use crate::support::{Abi, Args, Buffer, Launch, Module, Numbers, build};
use softgpu::contract::{ExecStats, Fault};

const LANES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Byte,
    Half,
    Brain,
    Single,
    Double,
}
use Element::{Brain, Byte, Double, Half, Single};

/// Kernel, elements, rows of a block, k, blocks, elements of A or B in a lane.
const ALL: [(&str, Element, usize, usize, usize, usize); 27] = [
    ("f32_32x32x1f32", Single, 32, 1, 2, 1),
    ("f32_16x16x1f32", Single, 16, 1, 4, 1),
    ("f32_4x4x1f32", Single, 4, 1, 16, 1),
    ("f32_32x32x2f32", Single, 32, 2, 1, 1),
    ("f32_16x16x4f32", Single, 16, 4, 1, 1),
    ("f32_32x32x4f16", Half, 32, 4, 2, 4),
    ("f32_16x16x4f16", Half, 16, 4, 4, 4),
    ("f32_4x4x4f16", Half, 4, 4, 16, 4),
    ("f32_32x32x8f16", Half, 32, 8, 1, 4),
    ("f32_16x16x16f16", Half, 16, 16, 1, 4),
    ("i32_32x32x4i8", Byte, 32, 4, 2, 4),
    ("i32_16x16x4i8", Byte, 16, 4, 4, 4),
    ("i32_4x4x4i8", Byte, 4, 4, 16, 4),
    ("i32_32x32x8i8", Byte, 32, 8, 1, 4),
    ("i32_16x16x16i8", Byte, 16, 16, 1, 4),
    ("f32_32x32x2bf16", Brain, 32, 2, 2, 2),
    ("f32_16x16x2bf16", Brain, 16, 2, 4, 2),
    ("f32_4x4x2bf16", Brain, 4, 2, 16, 2),
    ("f32_32x32x4bf16", Brain, 32, 4, 1, 2),
    ("f32_16x16x8bf16", Brain, 16, 8, 1, 2),
    ("f32_32x32x4bf16_1k", Brain, 32, 4, 2, 4),
    ("f32_16x16x4bf16_1k", Brain, 16, 4, 4, 4),
    ("f32_4x4x4bf16_1k", Brain, 4, 4, 16, 4),
    ("f32_32x32x8bf16_1k", Brain, 32, 8, 1, 4),
    ("f32_16x16x16bf16_1k", Brain, 16, 16, 1, 4),
    ("f64_16x16x4f64", Double, 16, 4, 1, 1),
    ("f64_4x4x4f64", Double, 4, 4, 4, 1),
];

/// The lane, and which of its elements, of A at (row, k), or of B at (k, column).
fn factor(
    side: usize,
    k: usize,
    blocks: usize,
    held: usize,
    (along, at, block): (usize, usize, usize),
) -> (usize, usize) {
    match (blocks, side == 4 && k == 4 && held == 1) {
        (_, true) => (16 * at + 4 * block + along, 0),
        (1, _) => (at / held * side + along, at % held),
        _ => (block * side + along, at),
    }
}

/// Row, column and block of C and D.
fn result(element: Element, side: usize, item: usize, lane: usize) -> (usize, usize, usize) {
    match (element, side) {
        (Double, 16) => (4 * item + lane / 16, lane % 16, 0),
        (Double, _) => (lane / 16, lane % 4, lane / 4 % 4),
        (_, 32) => (item % 16 / 4 * 8 + lane / 32 * 4 + item % 4, lane % 32, item / 16),
        (_, 16) => (lane / 16 * 4 + item % 4, lane % 16, item / 4),
        _ => (item, lane % 4, lane / 4),
    }
}

fn each(test: impl Fn(&Module)) {
    for optimisation in ["-O0", "-O2"] {
        let Some(code) = build("matrix", optimisation, Abi::V5, &[]) else { return };
        println!("{optimisation}");
        test(&Module::load(&code));
    }
}

fn run(module: &Module, kernel: &str, a: &[u8], b: &[u8], d: &[u8]) -> (Vec<u8>, ExecStats) {
    let (a, b, d) = (Buffer::of(a), Buffer::of(b), Buffer::of(d));
    let args = Args::new().buffer(&a).buffer(&b).buffer(&d);
    let stats = Launch::new(module, kernel, Abi::V5, 64, 64).run(args, &[&d], &[&a, &b]);
    (d.read(), stats)
}

/// An element's bytes and its value.
fn random(numbers: &mut Numbers, element: Element) -> (Vec<u8>, f64) {
    match element {
        Byte => {
            let value = numbers.bits() as i8;
            (value.to_ne_bytes().to_vec(), value.into())
        }
        Half => {
            let bits = numbers.bits() as u16 & 0xbfff;
            let (sign, exponent) = (if bits & 0x8000 != 0 { -1.0 } else { 1.0 }, i32::from(bits >> 10 & 31));
            // Denormals are zeros.
            let size =
                if exponent == 0 { 0.0 } else { (1.0 + f64::from(bits & 0x3ff) / 1024.0) * 2f64.powi(exponent - 15) };
            (bits.to_ne_bytes().to_vec(), sign * size)
        }
        Brain => {
            let bits = (numbers.float().to_bits() >> 16) as u16;
            (bits.to_ne_bytes().to_vec(), f32::from_bits(u32::from(bits) << 16).into())
        }
        Single => {
            let value = numbers.float();
            (value.to_ne_bytes().to_vec(), value.into())
        }
        Double => {
            let value = numbers.double();
            (value.to_ne_bytes().to_vec(), value)
        }
    }
}

#[test]
fn every_instruction_multiplies_its_matrices() {
    each(|module| {
        for (kernel, element, side, depth, blocks, held) in ALL {
            let mut numbers = Numbers::new(side as u64 * 100 + depth as u64);
            let mut factors = || -> (Vec<u8>, Vec<f64>) {
                let all: Vec<_> = (0..LANES * held).map(|_| random(&mut numbers, element)).collect();
                (
                    all.iter().flat_map(|(bytes, _)| bytes.clone()).collect(),
                    all.iter().map(|(_, value)| *value).collect(),
                )
            };
            let (a, b) = (factors(), factors());
            let items = side * side * blocks / LANES;
            let kept = if element == Byte {
                Byte
            } else if element == Double {
                Double
            } else {
                Single
            };
            let c: Vec<(Vec<u8>, f64)> = (0..LANES * items)
                .map(|_| match kept {
                    // Sums of whole numbers go round.
                    Byte => {
                        let value = i32::MAX - (numbers.bits() as i8 as i32).abs();
                        (value.to_ne_bytes().to_vec(), value.into())
                    }
                    kept => random(&mut numbers, kept),
                })
                .collect();
            let mut expected = Vec::new();
            for lane in 0..LANES {
                for item in 0..items {
                    let (row, column, block) = result(element, side, item, lane);
                    let at = |along, k| {
                        let (lane, held_at) = factor(side, depth, blocks, held, (along, k, block));
                        lane * held + held_at
                    };
                    let pairs = (0..depth).map(|k| (a.1[at(row, k)], b.1[at(column, k)]));
                    let before = c[lane * items + item].1;
                    match element {
                        Byte => {
                            let sum: i64 = pairs.map(|(x, y)| (x * y) as i64).sum();
                            expected.extend(((before as i64 + sum) as i32).to_ne_bytes());
                        }
                        Double => expected.extend(pairs.fold(before, |sum, (x, y)| x.mul_add(y, sum)).to_ne_bytes()),
                        _ => {
                            let sum = pairs.fold(before as f32, |sum, (x, y)| (x as f32).mul_add(y as f32, sum));
                            expected.extend(sum.to_ne_bytes());
                        }
                    }
                }
            }
            let before: Vec<u8> = c.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
            let (found, stats) = run(module, kernel, &a.0, &b.0, &before);
            assert!(found == expected, "{kernel}");
            let matrix = stats.matrix;
            let count = match element {
                Byte => matrix.i8,
                Half => matrix.f16,
                Brain => matrix.bf16,
                Single => matrix.f32,
                Double => matrix.f64,
            };
            assert_eq!((matrix.insts(), count.insts), (1, 1), "{kernel}");
            assert_eq!(count.operations, (2 * side * side * depth * blocks) as u64, "{kernel}");
        }
    });
}

#[test]
fn lanes_that_are_not_active_take_part() {
    each(|module| {
        let mut numbers = Numbers::new(5);
        let (a, b) = (numbers.floats(LANES), numbers.floats(LANES));
        let (ba, bb, d) = (Buffer::of(&a), Buffer::of(&b), Buffer::for_values::<f32>(4 * LANES));
        let args = Args::new().buffer(&ba).buffer(&bb).buffer(&d);
        Launch::new(module, "masked", Abi::V5, 64, 64).run(args, &[&d], &[&ba, &bb]);
        for (at, found) in d.read::<f32>().into_iter().enumerate() {
            let (lane, item) = (at / 4, at % 4);
            let (row, column, _) = result(Single, 16, item, lane);
            let sum = (0..4).fold(1.0f32, |sum, k| a[16 * k + row].mul_add(b[16 * k + column], sum));
            assert_eq!(found, sum, "lane {lane}, {item}");
        }
    });
}

#[test]
fn a_variant_that_is_not_known_fails_with_its_name() {
    each(|module| {
        let out = Buffer::for_values::<f32>(4 * 64);
        let fault = Launch::new(module, "broadcast", Abi::V5, 64, 64).try_run(Args::new().buffer(&out), &[&out], &[]);
        let Err(Fault::UnknownInstruction { what, .. }) = fault else { panic!("{fault:?}") };
        assert!(what.starts_with("v_mfma_f32_4x4x1f32"), "{what}");
    });
}
