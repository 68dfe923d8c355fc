//! VOP1: vector instructions of one source.

use super::cross;
use super::float::{self, Format, from_integer, half_from_single, half_round, half_to_single, narrow};
use super::lanes::{convert, double_to, double1, half, one, put_single, single1, to_double, word};
use super::source::{Kind, Kind64, put16, src, src64};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Rounding, Wave};
use crate::isa::table::vop1::*;

/// Runs a VOP1 instruction.
#[inline(always)]
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mode = w.float;
    match s.inst.op {
        // No exceptions are raised, so there are none to clear.
        V_NOP | V_CLREXCP => Ok(()),
        V_MOV_B32 => one(w, s, |a| a),
        V_ACCVGPR_MOV_B32 => one(w, s, |a| a),
        V_READFIRSTLANE_B32 => cross::read_first_lane(w, s),
        V_SWAP_B32 => cross::swap(w, s),
        V_NOT_B32 => one(w, s, |a| !a),
        V_BFREV_B32 => one(w, s, u32::reverse_bits),
        V_FFBH_U32 => one(w, s, |a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        V_FFBL_B32 => one(w, s, |a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        V_FFBH_I32 => one(w, s, |a| match (a as i32 ^ a as i32 >> 31) as u32 {
            0 => u32::MAX,
            differs => differs.leading_zeros(),
        }),

        V_CVT_F32_I32 => int_to_single(w, s, |a| i64::from(a as i32)),
        V_CVT_F32_U32 => int_to_single(w, s, i64::from),
        V_CVT_F32_UBYTE0 => int_to_single(w, s, |a| i64::from(a & 0xff)),
        V_CVT_F32_UBYTE1 => int_to_single(w, s, |a| i64::from(a >> 8 & 0xff)),
        V_CVT_F32_UBYTE2 => int_to_single(w, s, |a| i64::from(a >> 16 & 0xff)),
        V_CVT_F32_UBYTE3 => int_to_single(w, s, |a| i64::from(a >> 24)),
        V_CVT_F64_I32 => to_double(w, s, Kind::Bits, |a| f64::from(a as i32)),
        V_CVT_F64_U32 => to_double(w, s, Kind::Bits, f64::from),
        V_CVT_U32_F32 => convert(w, s, Kind::Single, |a| f32::from_bits(a) as u32),
        V_CVT_I32_F32 => convert(w, s, Kind::Single, |a| f32::from_bits(a) as i32 as u32),
        V_CVT_RPI_I32_F32 => convert(w, s, Kind::Single, |a| (f32::from_bits(a) + 0.5).floor() as i32 as u32),
        V_CVT_FLR_I32_F32 => convert(w, s, Kind::Single, |a| f32::from_bits(a).floor() as i32 as u32),
        V_CVT_I32_F64 => double_to(w, s, |a| a as i32 as u32),
        V_CVT_U32_F64 => double_to(w, s, |a| a as u32),
        V_CVT_F64_F32 => to_double(w, s, Kind::Single, |a| f64::from(f32::from_bits(a))),
        V_CVT_F32_F64 => double_to_single(w, s),
        V_CVT_F16_F32 => single_to_half(w, s),
        V_CVT_F32_F16 => half_to_single_op(w, s),
        V_CVT_OFF_F32_I4 => convert(w, s, Kind::Bits, |a| ((((a & 15) as i32 ^ 8) - 8) as f32 / 16.0).to_bits()),
        V_CVT_F16_U16 => word(w, s, false, move |[a]| from_integer(a.into(), Format::HALF, mode.round64) as u16),
        V_CVT_F16_I16 => {
            word(w, s, false, move |[a]| from_integer((a as i16).into(), Format::HALF, mode.round64) as u16)
        }
        V_CVT_U16_F16 => half_to_int(w, s, |a| a as u16),
        V_CVT_I16_F16 => half_to_int(w, s, |a| a as i16 as u16),
        V_CVT_NORM_I16_F16 => half_to_int(w, s, float::snorm16),
        V_CVT_NORM_U16_F16 => half_to_int(w, s, float::unorm16),
        V_SAT_PK_U8_I16 => one(w, s, |a| {
            let clamp = |x: u32| u32::from((x as u16 as i16).clamp(0, 255) as u16);
            clamp(a) | clamp(a >> 16) << 8
        }),

        V_TRUNC_F32 => single1(w, s, f32::trunc),
        V_CEIL_F32 => single1(w, s, f32::ceil),
        V_RNDNE_F32 => single1(w, s, f32::round_ties_even),
        V_FLOOR_F32 => single1(w, s, f32::floor),
        V_FRACT_F32 => single1(w, s, float::fract32),
        V_TRUNC_F64 => double1(w, s, f64::trunc),
        V_CEIL_F64 => double1(w, s, f64::ceil),
        V_RNDNE_F64 => double1(w, s, f64::round_ties_even),
        V_FLOOR_F64 => double1(w, s, f64::floor),
        V_FRACT_F64 => double1(w, s, float::fract64),
        V_TRUNC_F16 => half(w, s, false, |[a]| half_from_single(a.trunc())),
        V_CEIL_F16 => half(w, s, false, |[a]| half_from_single(a.ceil())),
        V_RNDNE_F16 => half(w, s, false, |[a]| half_from_single(a.round_ties_even())),
        V_FLOOR_F16 => half(w, s, false, |[a]| half_from_single(a.floor())),
        V_FRACT_F16 => half(w, s, false, |[a]| half_from_single((a - a.floor()).min(half_to_single(0x3bff)))),

        V_EXP_F32 | V_EXP_LEGACY_F32 => single1(w, s, float::exp2),
        V_LOG_F32 | V_LOG_LEGACY_F32 => single1(w, s, float::log2),
        V_RCP_F32 | V_RCP_IFLAG_F32 => single1(w, s, |a| 1.0 / a),
        V_RSQ_F32 => single1(w, s, float::rsq),
        V_SQRT_F32 => single1(w, s, f32::sqrt),
        V_SIN_F32 => single1(w, s, float::sin),
        V_COS_F32 => single1(w, s, float::cos),
        V_RCP_F64 => double1(w, s, |a| 1.0 / a),
        V_RSQ_F64 => double1(w, s, |a| 1.0 / a.sqrt()),
        V_SQRT_F64 => double1(w, s, f64::sqrt),
        V_RCP_F16 => half(w, s, false, move |[a]| half_round(1.0 / a, &mode)),
        V_SQRT_F16 => half(w, s, false, move |[a]| half_round(a.sqrt(), &mode)),
        V_RSQ_F16 => half(w, s, false, move |[a]| half_round(float::rsq(a), &mode)),
        V_LOG_F16 => half(w, s, false, move |[a]| half_round(float::log2(a), &mode)),
        V_EXP_F16 => half(w, s, false, move |[a]| half_round(float::exp2(a), &mode)),
        V_SIN_F16 => half(w, s, false, move |[a]| half_round(float::sin(a), &mode)),
        V_COS_F16 => half(w, s, false, move |[a]| half_round(float::cos(a), &mode)),

        V_FREXP_EXP_I32_F64 => double_to(w, s, |a| float::frexp_exponent(a.to_bits(), Format::DOUBLE) as u32),
        V_FREXP_MANT_F64 => double1(w, s, |a| f64::from_bits(float::frexp_fraction(a.to_bits(), Format::DOUBLE))),
        V_FREXP_EXP_I32_F32 => convert(w, s, Kind::Single, |a| float::frexp_exponent(a.into(), Format::SINGLE) as u32),
        V_FREXP_MANT_F32 => {
            single1(w, s, |a| f32::from_bits(float::frexp_fraction(a.to_bits().into(), Format::SINGLE) as u32))
        }
        V_FREXP_EXP_I16_F16 => half_bits(w, s, |a| float::frexp_exponent(a.into(), Format::HALF) as u16),
        V_FREXP_MANT_F16 => half_bits(w, s, |a| float::frexp_fraction(a.into(), Format::HALF) as u16),
        _ => Err(Stop::Unsupported("")),
    }
}

/// An integer to a single, rounded as the mode says.
#[inline(always)]
fn int_to_single(w: &mut Wave, s: &Slot, f: impl Fn(u32) -> i64) -> Result<(), Stop> {
    let rounding = w.float.round32;
    let mut out = Lanes::ZERO;
    {
        let mut buffer = Lanes::ZERO;
        let a = src(w, s, 0, Kind::Bits, &mut buffer);
        for l in 0..LANES {
            out.0[l] = if rounding == Rounding::NearestEven {
                (f(a.0[l]) as f32).to_bits()
            } else {
                from_integer(f(a.0[l]), Format::SINGLE, rounding) as u32
            };
        }
    }
    put_single(w, s, &mut out);
    Ok(())
}

fn double_to_single(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let rounding = w.float.round32;
    let a = src64(w, s, 0, Kind64::Double);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        let value = f64::from_bits(a[l]);
        out.0[l] = if rounding == Rounding::NearestEven {
            (value as f32).to_bits()
        } else {
            narrow(value, Format::SINGLE, rounding) as u32
        };
    }
    put_single(w, s, &mut out);
    Ok(())
}

fn single_to_half(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mode = w.float;
    let mut buffer = Lanes::ZERO;
    let a = *src(w, s, 0, Kind::Single, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(half_round(f32::from_bits(a.0[l]), &mode));
    }
    super::lanes::put_half(w, s, &mut out, false);
    Ok(())
}

fn half_to_single_op(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let mut buffer = Lanes::ZERO;
    let a = *src(w, s, 0, Kind::Half, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = half_to_single(a.0[l] as u16).to_bits();
    }
    put_single(w, s, &mut out);
    Ok(())
}

/// A half to a 16-bit integer.
fn half_to_int(w: &mut Wave, s: &Slot, f: impl Fn(f32) -> u16) -> Result<(), Stop> {
    half_bits(w, s, |a| f(half_to_single(a)))
}

/// A half's bits to 16 bits, without a float's output modifiers.
fn half_bits(w: &mut Wave, s: &Slot, f: impl Fn(u16) -> u16) -> Result<(), Stop> {
    let mut buffer = Lanes::ZERO;
    let a = *src(w, s, 0, Kind::Half, &mut buffer);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(a.0[l] as u16));
    }
    put16(w, &s.inst, &mut out, false);
    Ok(())
}
