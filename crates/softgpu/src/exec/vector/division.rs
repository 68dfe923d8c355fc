//! The steps of a division: scale, the last fused multiply-add, fix up.

use super::arith::fma_all32;
use super::float;
use super::lanes::{put_double, put_single};
use super::source::{Kind, Kind64, put32, put64, src, src64};
use super::vop2::{gather_bits, put_mask};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};

pub(super) fn div_scale32(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mut values = [Lanes::ZERO; 3];
    for (k, value) in values.iter_mut().enumerate() {
        let mut buffer = Lanes::ZERO;
        *value = *src(w, s, k, Kind::Single, &mut buffer);
    }
    let mut out = Lanes::ZERO;
    let mut bits = [0; LANES];
    for l in 0..LANES {
        let [a, b, c] = values.each_ref().map(|value| f32::from_bits(value.0[l]));
        let (value, scaled) = float::div_scale32(a, b, c);
        out.0[l] = value.to_bits();
        bits[l] = u32::from(scaled);
    }
    put32(w, &s.inst, &out);
    put_mask(w, s, gather_bits(&bits));
    Ok(())
}

pub(super) fn div_scale64(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let values: [_; 3] = std::array::from_fn(|k| src64(w, s, k, Kind64::Double));
    let mut out = [0; LANES];
    let mut bits = [0; LANES];
    for l in 0..LANES {
        let [a, b, c] = values.each_ref().map(|value| f64::from_bits(value[l]));
        let (value, scaled) = float::div_scale64(a, b, c);
        out[l] = value.to_bits();
        bits[l] = u32::from(scaled);
    }
    put64(w, &s.inst, &out);
    put_mask(w, s, gather_bits(&bits));
    Ok(())
}

/// The last step of a division: a fused multiply-add, scaled back where VCC says that an operand was scaled. Which way
/// follows from the third source, the scaled quotient.
pub(super) fn div_fmas32(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mut values = [Lanes::ZERO; 3];
    for (k, value) in values.iter_mut().enumerate() {
        let mut buffer = Lanes::ZERO;
        *value = *src(w, s, k, Kind::Single, &mut buffer);
    }
    let vcc = w.vcc();
    let mut out = Lanes::ZERO;
    fma_all32(w, &values[0], &values[1], &values[2], &mut out);
    for l in 0..LANES {
        if vcc >> l & 1 != 0 {
            let by = if values[2].0[l] >> 23 & 0xff > 127 { 64 } else { -64 };
            out.0[l] = float::ldexp32(f32::from_bits(out.0[l]), by).to_bits();
        }
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// As [`div_fmas32`], in double precision.
pub(super) fn div_fmas64(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let values: [_; 3] = std::array::from_fn(|k| src64(w, s, k, Kind64::Double));
    let vcc = w.vcc();
    let mut out = [0; LANES];
    for l in 0..LANES {
        let [a, b, c] = values.each_ref().map(|value| f64::from_bits(value[l]));
        let mut value = a.mul_add(b, c);
        if vcc >> l & 1 != 0 {
            value = float::ldexp64(value, if values[2][l] >> 52 & 0x7ff > 1023 { 128 } else { -128 });
        }
        out[l] = value.to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}

pub(super) fn div_fixup64(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let values: [_; 3] = std::array::from_fn(|k| src64(w, s, k, Kind64::Double));
    let mut out = [0; LANES];
    for l in 0..LANES {
        let [a, b, c] = values.each_ref().map(|value| f64::from_bits(value[l]));
        out[l] = float::div_fixup64(a, b, c).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}
