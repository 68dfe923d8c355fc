//! The transcendental unit, in double precision and rounded once: at least as accurate as the hardware's tables.

/// `2^x`.
pub(in crate::exec::vector) fn exp2(x: f32) -> f32 {
    f64::from(x).exp2() as f32
}

/// The logarithm of base 2.
pub(in crate::exec::vector) fn log2(x: f32) -> f32 {
    f64::from(x).log2() as f32
}

/// `1 / √x`.
pub(in crate::exec::vector) fn rsq(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

/// A whole number of turns away from `x`, and within one eighth of a turn of a quarter: which quarter, and the rest.
fn quarter(x: f64) -> (i64, f64) {
    let quarter = (x * 4.0).round();
    (quarter as i64, (x - quarter / 4.0) * std::f64::consts::TAU)
}

/// The sine of an angle in turns; zero beyond 256 of them.
pub(in crate::exec::vector) fn sin(x: f32) -> f32 {
    if x.abs() > 256.0 && x.is_finite() {
        return 0.0;
    }
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { x } else { f32::NAN };
    }
    let (quarter, rest) = quarter(x.into());
    (match quarter & 3 {
        0 => rest.sin(),
        1 => rest.cos(),
        2 => -rest.sin(),
        _ => -rest.cos(),
    }) as f32
}

/// The cosine of an angle in turns; one beyond 256 of them.
pub(in crate::exec::vector) fn cos(x: f32) -> f32 {
    if x.abs() > 256.0 && x.is_finite() {
        return 1.0;
    }
    if !x.is_finite() {
        return f32::NAN;
    }
    let (quarter, rest) = quarter(x.into());
    (match quarter & 3 {
        0 => rest.cos(),
        1 => -rest.sin(),
        2 => -rest.cos(),
        _ => rest.sin(),
    }) as f32
}
