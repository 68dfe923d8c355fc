//! Output modifiers and the flushing of denormal results.

use super::half::{half_from_single, half_to_single};
use crate::exec::vector::source::{flush32, flush64};
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;

/// The factor of an output modifier.
fn factor(omod: u8) -> f32 {
    [1.0, 2.0, 4.0, 0.5][usize::from(omod & 3)]
}

/// Clamps to 0…1; NaN becomes zero where the mode says so.
macro_rules! clamp {
    ($value:expr, $nan_to_zero:expr) => {{
        let value = $value;
        if value.is_nan() {
            if $nan_to_zero { 0.0 } else { value }
        } else if value > 1.0 {
            1.0
        } else if value > 0.0 {
            value
        } else {
            0.0
        }
    }};
}

/// Output modifiers and denormals of singles.
#[inline(never)]
pub(in crate::exec::vector) fn finish_single(w: &Wave, i: &Inst, out: &mut Lanes) {
    for bits in &mut out.0 {
        let mut value = f32::from_bits(*bits);
        if i.omod != 0 {
            value *= factor(i.omod);
        }
        if i.clamp {
            value = clamp!(value, w.float.dx10_clamp);
        }
        *bits = if w.float.flush32.1 { flush32(value.to_bits()) } else { value.to_bits() };
    }
}

/// Output modifiers and denormals of doubles.
#[inline(never)]
pub(in crate::exec::vector) fn finish_double(w: &Wave, i: &Inst, out: &mut [u64; LANES]) {
    for bits in out {
        let mut value = f64::from_bits(*bits);
        if i.omod != 0 {
            value *= f64::from(factor(i.omod));
        }
        if i.clamp {
            value = clamp!(value, w.float.dx10_clamp);
        }
        *bits = if w.float.flush64.1 { flush64(value.to_bits()) } else { value.to_bits() };
    }
}

/// Output modifiers and denormals of halves.
#[inline(never)]
pub(in crate::exec::vector) fn finish_half(w: &Wave, i: &Inst, out: &mut Lanes) {
    for bits in &mut out.0 {
        *bits = u32::from(finish_one_half(w, i, *bits as u16));
    }
}

/// Output modifiers and denormals of one half.
pub(in crate::exec::vector) fn finish_one_half(w: &Wave, i: &Inst, bits: u16) -> u16 {
    let mut value = half_to_single(bits);
    if i.omod != 0 {
        value *= factor(i.omod);
    }
    if i.clamp {
        value = clamp!(value, w.float.dx10_clamp);
    }
    let bits = half_from_single(value);
    if w.float.flush64.1 && bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}
