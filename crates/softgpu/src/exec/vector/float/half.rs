//! Half precision.

use super::soft::{Format, narrow};
use crate::exec::wave::{FloatMode, Rounding};

/// A half as a single, exactly.
#[inline(always)]
pub(in crate::exec) fn half_to_single(half: u16) -> f32 {
    let half = u32::from(half);
    let sign = (half & 0x8000) << 16;
    let rest = half & 0x7fff;
    // Move exponent and fraction into place, then correct the exponent's bias by an exact multiplication.
    let value = match rest {
        0x7c00.. => f32::from_bits(0x7f80_0000 | rest << 13),
        _ => f32::from_bits(rest << 13) * f32::from_bits((254 - 15) << 23),
    };
    f32::from_bits(value.to_bits() | sign)
}

/// A single as a half, rounded to nearest even.
#[inline]
pub(in crate::exec) fn half_from_single(single: f32) -> u16 {
    let bits = single.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let rest = bits & 0x7fff_ffff;
    if rest > 0x7f80_0000 {
        return sign | 0x7e00 | (rest >> 13 & 0x3ff) as u16;
    }
    // The first value that rounds to infinity.
    if rest >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if rest < 0x3880_0000 {
        // A denormal or zero: adding one half puts the fraction's last bit where a half's last bit is.
        let sum = f32::from_bits(rest) + 0.5;
        return sign | (sum.to_bits() - 0x3f00_0000) as u16;
    }
    let odd = rest >> 13 & 1;
    sign | ((rest + 0xfff + odd - ((127 - 15) << 23)) >> 13) as u16
}

/// A single as a half, rounded as the mode says.
#[inline(always)]
pub(in crate::exec::vector) fn half_round(single: f32, mode: &FloatMode) -> u16 {
    if mode.round64 == Rounding::NearestEven && !mode.f16_overflow {
        return half_from_single(single);
    }
    half_by_mode(f64::from(single), mode)
}

/// A double as a half, rounded once, as the mode says.
pub(in crate::exec::vector) fn half_from_double(double: f64, mode: &FloatMode) -> u16 {
    half_by_mode(double, mode)
}

#[inline(never)]
fn half_by_mode(double: f64, mode: &FloatMode) -> u16 {
    let half = narrow(double, Format::HALF, mode.round64) as u16;
    // With FP16_OVFL a finite number that is too large becomes the largest half.
    if mode.f16_overflow && double.is_finite() && half & 0x7fff == 0x7c00 {
        return half & 0x8000 | 0x7bff;
    }
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a half by its definition.
    fn value(half: u16) -> f64 {
        let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
        let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
        match exponent {
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            0 => sign * fraction * 2f64.powi(-24),
            _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        }
    }

    #[test]
    fn every_half_survives_the_way_through_a_single() {
        for half in 0..=u16::MAX {
            let single = half_to_single(half);
            let expected = value(half);
            assert!(f64::from(single) == expected || single.is_nan() && expected.is_nan(), "{half:#06x}");
            if !single.is_nan() {
                assert_eq!(half_from_single(single), half, "{half:#06x}");
            }
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_even_half() {
        for half in 0..0x7bffu16 {
            let (low, high) = (value(half), value(half + 1));
            let middle = (low + high) / 2.0;
            let even = if half & 1 == 0 { half } else { half + 1 };
            assert_eq!(half_from_single(middle as f32), even, "between {low} and {high}");
            assert_eq!(half_from_single((middle as f32).next_down()), half);
            assert_eq!(half_from_single((middle as f32).next_up()), half + 1);
            let by_mode = narrow(middle, Format::HALF, Rounding::NearestEven) as u16;
            assert_eq!(by_mode, even, "software rounding between {low} and {high}");
        }
        assert_eq!(half_from_single(65519.99), 0x7bff);
        assert_eq!(half_from_single(65520.0), 0x7c00);
    }
}
