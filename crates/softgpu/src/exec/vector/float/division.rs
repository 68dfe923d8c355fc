//! The steps of a division: scaling of extreme operands before it, special cases after it.
//!
//! Source: AMD's instruction set manuals, `V_DIV_SCALE`, `V_DIV_FIXUP`.

macro_rules! division {
    ($scale:ident, $fixup:ident, $float:ty, $bits:ty, $exponent:expr, $near:literal, $by:literal, $tiny:literal,
     $underflow:literal, $ldexp:path) => {
        /// Scales `value`, which is the denominator or the numerator; also whether the quotient must be scaled back.
        pub(in crate::exec::vector) fn $scale(value: $float, denominator: $float, numerator: $float) -> ($float, bool) {
            let exponent = |x: $float| -> i32 { $exponent(x.to_bits()) };
            let denormal = |x: f64| x.abs() < f64::from(<$float>::MIN_POSITIVE);
            let inverse = 1.0 / f64::from(denominator);
            let quotient = f64::from(numerator) / f64::from(denominator);
            let is_denominator = value.to_bits() == denominator.to_bits();
            let is_numerator = value.to_bits() == numerator.to_bits();
            let scale_if = |which: bool, by: i32| if which { $ldexp(value, by) } else { value };
            if denominator == 0.0 || numerator == 0.0 {
                (<$float>::NAN, false)
            } else if exponent(numerator) - exponent(denominator) >= $near {
                (scale_if(is_denominator, $by), true)
            } else if exponent(denominator) == 0 {
                ($ldexp(value, $by), false)
            } else if denormal(inverse) && denormal(quotient) {
                (scale_if(is_denominator, -$by), true)
            } else if denormal(inverse) {
                ($ldexp(value, -$by), false)
            } else if denormal(quotient) {
                (scale_if(is_numerator, $by), true)
            } else if exponent(numerator) <= $tiny {
                ($ldexp(value, $by), false)
            } else {
                (value, false)
            }
        }

        /// The quotient with its special cases put right.
        pub(in crate::exec::vector) fn $fixup(quotient: $float, denominator: $float, numerator: $float) -> $float {
            let exponent = |x: $float| -> i32 { $exponent(x.to_bits()) };
            let negative = denominator.is_sign_negative() != numerator.is_sign_negative();
            let signed = |x: $float| if negative { -x.abs() } else { x.abs() };
            if numerator.is_nan() || denominator.is_nan() {
                // The sum is a quiet NaN.
                numerator + denominator
            } else if denominator == 0.0 && numerator == 0.0 || denominator.is_infinite() && numerator.is_infinite() {
                <$float>::NAN
            } else if denominator == 0.0 || numerator.is_infinite() {
                signed(<$float>::INFINITY)
            } else if denominator.is_infinite() || numerator == 0.0 {
                signed(0.0)
            } else if exponent(numerator) - exponent(denominator) < $underflow {
                signed(0.0)
            } else {
                signed(quotient)
            }
        }
    };
}

division!(div_scale32, div_fixup32, f32, u32, |b: u32| (b >> 23 & 0xff) as i32, 96, 64, 23, -150, super::ldexp32);
division!(div_scale64, div_fixup64, f64, u64, |b: u64| (b >> 52 & 0x7ff) as i32, 768, 128, 53, -1075, super::ldexp64);
