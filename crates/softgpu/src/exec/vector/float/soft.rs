//! Multiplication and addition in software, for rounding modes that the host does not have at hand, and for formats
//! where two host operations would round twice.

use crate::exec::wave::Rounding;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec::vector) struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// Bits of the exponent.
    exponent: u32,
}

impl Format {
    pub(in crate::exec::vector) const HALF: Format = Format { fraction: 10, exponent: 5 };
    pub(in crate::exec::vector) const SINGLE: Format = Format { fraction: 23, exponent: 8 };
    pub(in crate::exec::vector) const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn top(self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    fn infinity(self) -> u64 {
        self.top() << self.fraction
    }

    fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }
}

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec::vector) enum Unpacked {
    Nan,
    Infinity {
        negative: bool,
    },
    /// `significand · 2^exponent`; the significand is zero for zero.
    Finite {
        negative: bool,
        exponent: i32,
        significand: u64,
    },
}

impl Unpacked {
    /// Takes a number of `format` apart.
    pub(in crate::exec::vector) fn new(bits: u64, format: Format) -> Unpacked {
        let negative = bits & format.sign() != 0;
        let exponent = bits >> format.fraction & format.top();
        let fraction = bits & ((1 << format.fraction) - 1);
        match exponent {
            e if e == format.top() && fraction != 0 => Unpacked::Nan,
            e if e == format.top() => Unpacked::Infinity { negative },
            e => Unpacked::Finite {
                negative,
                exponent: e.max(1) as i32 - format.bias() - format.fraction as i32,
                significand: fraction | u64::from(e != 0) << format.fraction,
            },
        }
    }
}

/// `value · 2^exponent`, rounded. The lowest bit of `value` also stands for anything smaller that is not zero.
fn round(negative: bool, value: u128, exponent: i32, format: Format, rounding: Rounding) -> u64 {
    let sign = if negative { format.sign() } else { 0 };
    if value == 0 {
        return sign;
    }
    // The exponent of the result's last bit: that of a normal number, or of the denormals.
    let length = 128 - value.leading_zeros() as i32;
    let smallest = 1 - format.bias() - format.fraction as i32;
    let last = (exponent + length - 1 - format.fraction as i32).max(smallest);
    let drop = last - exponent;
    let (kept, rest, half) = match drop {
        ..=0 => (value << -drop, 0, 1),
        1..=127 => (value >> drop, value & ((1 << drop) - 1), 1u128 << (drop - 1)),
        // Below a quarter of the last bit.
        _ => (0, 1, 2),
    };
    let up = match rounding {
        Rounding::NearestEven => rest > half || rest == half && kept & 1 != 0,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
        Rounding::Zero => false,
    };
    let kept = kept as u64 + u64::from(up);
    // A carry out of the fraction moves the exponent by itself.
    let hidden = 1u64 << format.fraction;
    let bits = if kept < hidden {
        kept
    } else {
        let biased = (last - smallest) as u64 + 1;
        (biased << format.fraction) + (kept - hidden)
    };
    if bits >= format.infinity() {
        let to_infinity = match rounding {
            Rounding::NearestEven => true,
            Rounding::Up => !negative,
            Rounding::Down => negative,
            Rounding::Zero => false,
        };
        return sign | if to_infinity { format.infinity() } else { format.infinity() - 1 };
    }
    sign | bits
}

/// `a · b + c` in a format, rounded once.
pub(in crate::exec::vector) fn fma(a: u64, b: u64, c: u64, format: Format, rounding: Rounding) -> u64 {
    use Unpacked::{Finite, Infinity, Nan};
    let sign = |negative: bool| if negative { format.sign() } else { 0 };
    let negative_of = |bits: u64| bits & format.sign() != 0;
    let product_negative = negative_of(a) != negative_of(b);
    let (ua, ub, uc) = (Unpacked::new(a, format), Unpacked::new(b, format), Unpacked::new(c, format));
    if [ua, ub, uc].contains(&Nan) {
        return format.nan();
    }
    if let (Infinity { .. }, Finite { significand: 0, .. }) | (Finite { significand: 0, .. }, Infinity { .. }) =
        (ua, ub)
    {
        return format.nan();
    }
    if matches!(ua, Infinity { .. }) || matches!(ub, Infinity { .. }) {
        return match uc {
            Infinity { negative } if negative != product_negative => format.nan(),
            _ => sign(product_negative) | format.infinity(),
        };
    }
    let (
        Finite { exponent: ea, significand: sa, .. },
        Finite { exponent: eb, significand: sb, .. },
        Finite { negative: nc, exponent: ec, significand: sc },
    ) = (ua, ub, uc)
    else {
        return sign(negative_of(c)) | format.infinity();
    };
    let product = u128::from(sa) * u128::from(sb);
    if product == 0 && sc == 0 {
        let negative = if product_negative == nc { nc } else { rounding == Rounding::Down };
        return sign(negative);
    }
    // Both with their highest bit at 125, so that the sum fits and at least 19 bits stay below a product.
    let normal = |value: u128, exponent: i32| {
        let shift = value.leading_zeros() as i32 - 2;
        (value << shift, exponent - shift)
    };
    if product == 0 {
        return round(nc, u128::from(sc), ec, format, rounding);
    }
    let p = normal(product, ea + eb);
    if sc == 0 {
        return round(product_negative, p.0, p.1, format, rounding);
    }
    let q = normal(u128::from(sc), ec);
    let ((large, exponent, negative), (small, small_exponent, small_negative)) =
        if p.1 > q.1 || p.1 == q.1 && p.0 >= q.0 {
            ((p.0, p.1, product_negative), (q.0, q.1, nc))
        } else {
            ((q.0, q.1, nc), (p.0, p.1, product_negative))
        };
    let distance = (exponent - small_exponent) as u32;
    let aligned = if distance > 126 { 1 } else { small >> distance | u128::from(small & ((1 << distance) - 1) != 0) };
    if negative == small_negative {
        return round(negative, large + aligned, exponent, format, rounding);
    }
    let difference = large - aligned;
    if difference == 0 {
        return sign(rounding == Rounding::Down);
    }
    round(negative, difference, exponent, format, rounding)
}

/// A number of a format times a power of two, rounded.
pub(in crate::exec::vector) fn scale(bits: u64, by: i32, format: Format, rounding: Rounding) -> u64 {
    match Unpacked::new(bits, format) {
        Unpacked::Nan => bits | format.nan(),
        Unpacked::Infinity { .. } => bits,
        Unpacked::Finite { negative, exponent, significand } => {
            round(negative, u128::from(significand), exponent + by.clamp(-10_000, 10_000), format, rounding)
        }
    }
}

/// A double in a smaller format (or in its own), rounded.
pub(in crate::exec::vector) fn narrow(double: f64, format: Format, rounding: Rounding) -> u64 {
    let sign = if double.is_sign_negative() { format.sign() } else { 0 };
    match Unpacked::new(double.to_bits(), Format::DOUBLE) {
        Unpacked::Nan => sign | format.nan(),
        Unpacked::Infinity { .. } => sign | format.infinity(),
        Unpacked::Finite { negative, exponent, significand } => {
            round(negative, u128::from(significand), exponent, format, rounding)
        }
    }
}

/// An integer in a format, rounded.
pub(in crate::exec::vector) fn from_integer(integer: i64, format: Format, rounding: Rounding) -> u64 {
    round(integer < 0, u128::from(integer.unsigned_abs()), 0, format, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fma_is_the_hosts_in_double(a: u64, b: u64, c: u64, near in -60i64..60) {
            // Also with a third operand near the product, where it cancels.
            let product = f64::from_bits(a) * f64::from_bits(b);
            let close = (-product).to_bits().wrapping_add_signed(near);
            for c in [c, close] {
                let expected = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
                let got = f64::from_bits(fma(a, b, c, Format::DOUBLE, Rounding::NearestEven));
                prop_assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(), "{a:x} {b:x} {c:x}");
            }
        }

        #[test]
        fn fma_is_the_hosts_in_single(a: u32, b: u32, c: u32) {
            let expected = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
            let got = fma(a.into(), b.into(), c.into(), Format::SINGLE, Rounding::NearestEven) as u32;
            prop_assert!(got == expected.to_bits() || f32::from_bits(got).is_nan() && expected.is_nan());
        }

        #[test]
        fn directed_rounding_encloses_the_exact_result(a: u32, b: u32, c: u32) {
            let run = |rounding| f32::from_bits(fma(a.into(), b.into(), c.into(), Format::SINGLE, rounding) as u32);
            let nearest = run(Rounding::NearestEven);
            prop_assume!(!nearest.is_nan());
            let (down, up, zero) = (run(Rounding::Down), run(Rounding::Up), run(Rounding::Zero));
            prop_assert!(down <= nearest && nearest <= up);
            prop_assert!(down == up || down.next_up() == up);
            prop_assert_eq!(zero, if nearest.is_sign_negative() { up } else { down });
        }

        #[test]
        fn narrowing_is_the_hosts(a: u64) {
            let expected = f64::from_bits(a) as f32;
            let got = f32::from_bits(narrow(f64::from_bits(a), Format::SINGLE, Rounding::NearestEven) as u32);
            prop_assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
        }

        #[test]
        fn integers_are_the_hosts(a: i64) {
            prop_assert_eq!(from_integer(a, Format::SINGLE, Rounding::NearestEven) as u32, (a as f32).to_bits());
        }
    }
}
