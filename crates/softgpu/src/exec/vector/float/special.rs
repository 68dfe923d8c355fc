//! Minimum and maximum, taking numbers apart, conversion to integers.

use super::soft;
use super::{Format, Unpacked};
use crate::exec::wave::Rounding;

macro_rules! extremes {
    ($min:ident, $max:ident, $float:ty) => {
        /// The smaller one; a number rather than NaN; the negative zero.
        #[inline(always)]
        pub(in crate::exec::vector) fn $min(a: $float, b: $float) -> $float {
            if a < b || b.is_nan() {
                a
            } else if b < a || a.is_nan() {
                b
            } else {
                <$float>::from_bits(a.to_bits() | b.to_bits())
            }
        }

        /// The larger one; a number rather than NaN; the positive zero.
        #[inline(always)]
        pub(in crate::exec::vector) fn $max(a: $float, b: $float) -> $float {
            if a > b || b.is_nan() {
                a
            } else if b > a || a.is_nan() {
                b
            } else {
                <$float>::from_bits(a.to_bits() & b.to_bits())
            }
        }
    };
}
extremes!(min32, max32, f32);
extremes!(min64, max64, f64);

/// The middle one of three; with a NaN, the smallest.
pub(in crate::exec::vector) fn med32(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min32(min32(a, b), c);
    }
    max32(min32(a, b), min32(max32(a, b), c))
}

/// `x · 2^by`, rounded to nearest.
pub(in crate::exec::vector) fn ldexp32(x: f32, by: i32) -> f32 {
    // Exact in double: the range of exponents that matter is small.
    let by = by.clamp(-400, 400);
    (f64::from(x) * f64::from_bits(((1023 + i64::from(by)) as u64) << 52)) as f32
}

/// `x · 2^by`, rounded to nearest.
pub(in crate::exec::vector) fn ldexp64(x: f64, by: i32) -> f64 {
    f64::from_bits(soft::scale(x.to_bits(), by, Format::DOUBLE, Rounding::NearestEven))
}

/// The exponent of a number as a fraction of 0.5 to 1; zero for zero, infinity and NaN.
pub(in crate::exec::vector) fn frexp_exponent(bits: u64, format: Format) -> i32 {
    match Unpacked::new(bits, format) {
        Unpacked::Finite { significand: significand @ 1.., exponent, .. } => {
            exponent + 64 - significand.leading_zeros() as i32
        }
        _ => 0,
    }
}

/// The fraction of 0.5 to 1 of a number; zero, infinity and NaN as they are.
pub(in crate::exec::vector) fn frexp_fraction(bits: u64, format: Format) -> u64 {
    match Unpacked::new(bits, format) {
        Unpacked::Finite { significand: 1.., .. } => {
            soft::scale(bits, -frexp_exponent(bits, format), format, Rounding::NearestEven)
        }
        _ => bits,
    }
}

/// What is behind the point, below one.
pub(in crate::exec::vector) fn fract32(x: f32) -> f32 {
    min32(x - x.floor(), 1.0f32.next_down())
}

/// What is behind the point, below one.
pub(in crate::exec::vector) fn fract64(x: f64) -> f64 {
    min64(x - x.floor(), 1.0f64.next_down())
}

/// Signed normalised 16 bits.
pub(in crate::exec::vector) fn snorm16(x: f32) -> u16 {
    (x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16
}

/// Unsigned normalised 16 bits.
pub(in crate::exec::vector) fn unorm16(x: f32) -> u16 {
    (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

/// The class of a number as a bit: signalling NaN, quiet NaN, −∞, −normal, −denormal, −0, +0, +denormal, +normal, +∞.
pub(in crate::exec::vector) fn class(bits: u64, fraction: u32, exponent: u32) -> u32 {
    let negative = bits >> (fraction + exponent) & 1 != 0;
    let e = bits >> fraction & ((1 << exponent) - 1);
    let f = bits & ((1 << fraction) - 1);
    let signed = |minus: u32, plus: u32| 1 << if negative { minus } else { plus };
    match (e, f) {
        (0, 0) => signed(5, 6),
        (0, _) => signed(4, 7),
        (e, f) if e == (1 << exponent) - 1 => match f {
            0 => signed(2, 9),
            f if f >> (fraction - 1) == 0 => 1,
            _ => 2,
        },
        _ => signed(3, 8),
    }
}
