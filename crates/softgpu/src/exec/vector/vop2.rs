//! VOP2: vector instructions of two sources.

use super::arith::{Arith, arith32, fma16, fma32, fma64, mad32};
use super::dot;
use super::float::{half_from_single, half_round, max32, min32};
use super::lanes::{half, single2, two, word};
use super::packed;
use super::source::{Kind, put32, src};
use crate::exec::code::Slot;
use crate::exec::scalar;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::table::vop2::*;

/// Runs a VOP2 instruction.
#[inline(always)]
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let float = w.float;
    let clamp = s.inst.clamp;
    match s.inst.op {
        V_CNDMASK_B32 => select(w, s),
        V_ADD_F32 => arith32(w, s, Arith::Add),
        V_SUB_F32 => arith32(w, s, Arith::Sub),
        V_SUBREV_F32 => arith32(w, s, Arith::SubRev),
        V_MUL_F32 => arith32(w, s, Arith::Mul),
        V_FMAC_F64 => fma64(w, s, true),
        V_FMAC_F32 => fma32(w, s, true),
        V_MAC_F32 => {
            let third = *w.v(s.inst.dst, 0);
            mad32(w, s, Some(third))
        }
        V_MADMK_F32 | V_MADAK_F32 => mad32(w, s, None),
        V_MUL_I32_I24 => two(w, s, |a, b| i24(a).wrapping_mul(i24(b)) as u32),
        V_MUL_HI_I32_I24 => two(w, s, |a, b| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as u32),
        V_MUL_U32_U24 => two(w, s, |a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        V_MUL_HI_U32_U24 => two(w, s, |a, b| ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 32) as u32),
        V_MIN_F32 => single2(w, s, min32),
        V_MAX_F32 => single2(w, s, max32),
        V_MIN_I32 => two(w, s, |a, b| (a as i32).min(b as i32) as u32),
        V_MAX_I32 => two(w, s, |a, b| (a as i32).max(b as i32) as u32),
        V_MIN_U32 => two(w, s, u32::min),
        V_MAX_U32 => two(w, s, u32::max),
        V_LSHRREV_B32 => two(w, s, |a, b| b >> (a & 31)),
        V_ASHRREV_I32 => two(w, s, |a, b| (b as i32 >> (a & 31)) as u32),
        V_LSHLREV_B32 => two(w, s, |a, b| b << (a & 31)),
        V_AND_B32 => two(w, s, |a, b| a & b),
        V_OR_B32 => two(w, s, |a, b| a | b),
        V_XOR_B32 => two(w, s, |a, b| a ^ b),
        V_XNOR_B32 => two(w, s, |a, b| !(a ^ b)),
        V_ADD_U32 if clamp => two(w, s, u32::saturating_add),
        V_SUB_U32 if clamp => two(w, s, u32::saturating_sub),
        V_SUBREV_U32 if clamp => two(w, s, |a, b| b.saturating_sub(a)),
        V_ADD_U32 => two(w, s, u32::wrapping_add),
        V_SUB_U32 => two(w, s, u32::wrapping_sub),
        V_SUBREV_U32 => two(w, s, |a, b| b.wrapping_sub(a)),
        V_ADD_CO_U32 | V_ADDC_CO_U32 => carry(w, s, |a, b, c| {
            let sum = u64::from(a) + u64::from(b) + u64::from(c);
            (sum as u32, sum >> 32 != 0)
        }),
        V_SUB_CO_U32 | V_SUBB_CO_U32 => carry(w, s, borrow),
        V_SUBREV_CO_U32 | V_SUBBREV_CO_U32 => carry(w, s, |a, b, c| borrow(b, a, c)),
        V_ADD_F16 => half(w, s, false, move |[a, b]| half_round(a + b, &float)),
        V_SUB_F16 => half(w, s, false, move |[a, b]| half_round(a - b, &float)),
        V_SUBREV_F16 => half(w, s, false, move |[a, b]| half_round(b - a, &float)),
        V_MUL_F16 => half(w, s, false, move |[a, b]| half_round(a * b, &float)),
        V_MAX_F16 => half(w, s, false, |[a, b]| half_from_single(max32(a, b))),
        V_MIN_F16 => half(w, s, false, |[a, b]| half_from_single(min32(a, b))),
        V_LDEXP_F16 => ldexp_half(w, s),
        V_MAC_F16 => fma16(w, s, false, true, true),
        V_MADMK_F16 | V_MADAK_F16 => fma16(w, s, false, false, true),
        V_ADD_U16 if clamp => word(w, s, false, |[a, b]| a.saturating_add(b)),
        V_SUB_U16 if clamp => word(w, s, false, |[a, b]| a.saturating_sub(b)),
        V_SUBREV_U16 if clamp => word(w, s, false, |[a, b]| b.saturating_sub(a)),
        V_ADD_U16 => word(w, s, false, |[a, b]| a.wrapping_add(b)),
        V_SUB_U16 => word(w, s, false, |[a, b]| a.wrapping_sub(b)),
        V_SUBREV_U16 => word(w, s, false, |[a, b]| b.wrapping_sub(a)),
        V_MUL_LO_U16 => word(w, s, false, |[a, b]| a.wrapping_mul(b)),
        V_LSHLREV_B16 => word(w, s, false, |[a, b]| b << (a & 15)),
        V_LSHRREV_B16 => word(w, s, false, |[a, b]| b >> (a & 15)),
        V_ASHRREV_I16 => word(w, s, false, |[a, b]| (b as i16 >> (a & 15)) as u16),
        V_MAX_U16 => word(w, s, false, |[a, b]| a.max(b)),
        V_MAX_I16 => word(w, s, false, |[a, b]| (a as i16).max(b as i16) as u16),
        V_MIN_U16 => word(w, s, false, |[a, b]| a.min(b)),
        V_MIN_I16 => word(w, s, false, |[a, b]| (a as i16).min(b as i16) as u16),
        V_DOT2C_F32_F16 | V_DOT2C_I32_I16 | V_DOT4C_I32_I8 | V_DOT8C_I32_I4 => dot::dot_accumulate(w, s),
        V_PK_FMAC_F16 => packed::fmac(w, s),
        _ => Err(Stop::Unsupported("")),
    }
}

/// The low 24 bits, sign-extended.
#[inline(always)]
pub(super) fn i24(value: u32) -> i32 {
    (value << 8) as i32 >> 8
}

/// `a - b - c` and whether it wraps.
#[inline(always)]
fn borrow(a: u32, b: u32, c: bool) -> (u32, bool) {
    let take = u64::from(b) + u64::from(c);
    (a.wrapping_sub(take as u32), take > u64::from(a))
}

/// A mask of lanes from a scalar operand.
#[inline(always)]
pub(super) fn lane_mask(w: &Wave, s: &Slot, k: usize) -> u64 {
    scalar::src64(w, &s.inst, s.inst.src[k], false)
}

/// Sets the bits of active lanes in a scalar pair; inactive lanes get zero.
#[inline(always)]
pub(super) fn put_mask(w: &mut Wave, s: &Slot, bits: u64) {
    let value = bits & w.write_mask;
    w.set_s64(s.inst.sdst.0, value);
}

/// One bit of each lane.
#[inline(always)]
pub(super) fn gather_bits(bits: &[u32; LANES]) -> u64 {
    let mut mask = 0;
    for (lane, bit) in bits.iter().enumerate() {
        mask |= u64::from(*bit & 1) << lane;
    }
    mask
}

#[inline(always)]
fn select(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mask = lane_mask(w, s, 2);
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = src(w, s, 0, Kind::Signed, &mut buffer_a);
    let b = src(w, s, 1, Kind::Signed, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let choose = ((mask >> l & 1) as u32).wrapping_neg();
        out.0[l] = a.0[l] & !choose | b.0[l] & choose;
    }
    put32(w, &s.inst, &out);
    Ok(())
}

/// Addition or subtraction with a carry out, and in where there is a third source.
#[inline(always)]
fn carry(w: &mut Wave, s: &Slot, f: impl Fn(u32, u32, bool) -> (u32, bool)) -> Result<(), Stop> {
    let carry_in = if s.inst.src[2].is_none() { 0 } else { lane_mask(w, s, 2) };
    let mut out = Lanes::ZERO;
    let mut bits = [0; LANES];
    {
        let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
        let a = src(w, s, 0, Kind::Bits, &mut buffer_a);
        let b = src(w, s, 1, Kind::Bits, &mut buffer_b);
        for l in 0..LANES {
            let (value, carry) = f(a.0[l], b.0[l], carry_in >> l & 1 != 0);
            out.0[l] = value;
            bits[l] = u32::from(carry);
        }
    }
    put32(w, &s.inst, &out);
    put_mask(w, s, gather_bits(&bits));
    Ok(())
}

fn ldexp_half(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let float = w.float;
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = *src(w, s, 0, Kind::Half, &mut buffer_a);
    let b = *src(w, s, 1, Kind::Bits16, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let by = i32::from(b.0[l] as i16).clamp(-100, 100);
        let value = f64::from(super::float::half_to_single(a.0[l] as u16)) * 2f64.powi(by);
        out.0[l] = u32::from(super::float::half_from_double(value, &float));
    }
    super::lanes::put_half(w, s, &mut out, false);
    Ok(())
}
