//! Instructions that only VOP3 encodes.

use super::arith::{Arith, arith64, fma16, fma32, fma64, mad32};
use super::cross;
use super::division;
use super::float::{self, half_from_single, half_to_single, max32, max64, med32, min32, min64};
use super::lanes::{double2, half, put_double, put_single, single2, single3, three, two, word};
use super::source::{Kind, Kind64, put32, put64, src, src64};
use super::vop2::{gather_bits, i24, put_mask};
use crate::exec::code::Slot;
use crate::exec::step::Stop;
use crate::exec::wave::{LANES, Lanes, Rounding, Wave};
use crate::isa::table::vop3::*;

/// Runs an instruction of VOP3.
pub(super) fn execute(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let clamp = s.inst.clamp;
    match s.inst.op {
        V_FMA_F32 => fma32(w, s, false),
        V_FMA_F64 => fma64(w, s, false),
        V_ADD_F64 => arith64(w, s, Arith::Add),
        V_MUL_F64 => arith64(w, s, Arith::Mul),
        V_MIN_F64 => double2(w, s, min64),
        V_MAX_F64 => double2(w, s, max64),
        V_MAD_F32 => mad32(w, s, None),
        V_MAD_LEGACY_F32 => single3(w, s, |a, b, c| if a == 0.0 || b == 0.0 { c } else { a * b + c }),
        V_MUL_LEGACY_F32 => single2(w, s, |a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b }),

        V_MAD_I32_I24 => three(w, s, |a, b, c| (i24(a).wrapping_mul(i24(b)) as u32).wrapping_add(c)),
        V_MAD_U32_U24 => three(w, s, |a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)),
        V_BFE_U32 => three(w, s, |a, b, c| a >> (b & 31) & ((1u32 << (c & 31)) - 1)),
        V_BFE_I32 => three(w, s, |a, b, c| {
            let count = c & 31;
            let field = a >> (b & 31) & ((1u32 << count) - 1);
            if count == 0 { 0 } else { ((field << (32 - count)) as i32 >> (32 - count)) as u32 }
        }),
        V_BFI_B32 => three(w, s, |a, b, c| a & b | !a & c),
        V_BFM_B32 => two(w, s, |a, b| ((1u32 << (a & 31)) - 1) << (b & 31)),
        V_ALIGNBIT_B32 => three(w, s, |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
        V_ALIGNBYTE_B32 => three(w, s, |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32),
        V_PERM_B32 => three(w, s, permute),
        V_LERP_U8 => three(w, s, |a, b, c| bytes(|n| ((a >> n & 0xff) + (b >> n & 0xff) + (c >> n & 1)) >> 1)),
        V_LSHL_ADD_U32 => three(w, s, |a, b, c| (a << (b & 31)).wrapping_add(c)),
        V_ADD_LSHL_U32 => three(w, s, |a, b, c| a.wrapping_add(b) << (c & 31)),
        V_ADD3_U32 => three(w, s, |a, b, c| a.wrapping_add(b).wrapping_add(c)),
        V_LSHL_OR_B32 => three(w, s, |a, b, c| a << (b & 31) | c),
        V_AND_OR_B32 => three(w, s, |a, b, c| a & b | c),
        V_OR3_B32 => three(w, s, |a, b, c| a | b | c),
        V_XAD_U32 => three(w, s, |a, b, c| (a ^ b).wrapping_add(c)),
        V_MUL_LO_U32 => two(w, s, u32::wrapping_mul),
        V_MUL_HI_U32 => two(w, s, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        V_MUL_HI_I32 => two(w, s, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
        V_BCNT_U32_B32 => two(w, s, |a, b| a.count_ones().wrapping_add(b)),
        V_ADD_I32 if clamp => two(w, s, |a, b| (a as i32).saturating_add(b as i32) as u32),
        V_SUB_I32 if clamp => two(w, s, |a, b| (a as i32).saturating_sub(b as i32) as u32),
        V_ADD_I32 => two(w, s, u32::wrapping_add),
        V_SUB_I32 => two(w, s, u32::wrapping_sub),
        V_MAD_U64_U32 => wide_mad(w, s, |a, b| u128::from(a) * u128::from(b), u128::from),
        V_MAD_I64_I32 => wide_mad(
            w,
            s,
            |a, b| (i128::from(a as i32) * i128::from(b as i32)) as u128,
            |c| i128::from(c as i64) as u128,
        ),
        V_LSHLREV_B64 => shift64(w, s, |a, by| a << by),
        V_LSHRREV_B64 => shift64(w, s, |a, by| a >> by),
        V_ASHRREV_I64 => shift64(w, s, |a, by| (a as i64 >> by) as u64),
        V_MIN3_F32 => single3(w, s, |a, b, c| min32(min32(a, b), c)),
        V_MAX3_F32 => single3(w, s, |a, b, c| max32(max32(a, b), c)),
        V_MED3_F32 => single3(w, s, med32),
        V_MIN3_I32 => three(w, s, |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32),
        V_MAX3_I32 => three(w, s, |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
        V_MED3_I32 => three(w, s, |a, b, c| middle(a as i32, b as i32, c as i32) as u32),
        V_MIN3_U32 => three(w, s, |a, b, c| a.min(b).min(c)),
        V_MAX3_U32 => three(w, s, |a, b, c| a.max(b).max(c)),
        V_MED3_U32 => three(w, s, middle),
        V_MIN3_F16 => half(w, s, true, |[a, b, c]| half_from_single(min32(min32(a, b), c))),
        V_MAX3_F16 => half(w, s, true, |[a, b, c]| half_from_single(max32(max32(a, b), c))),
        V_MED3_F16 => half(w, s, true, |[a, b, c]| half_from_single(med32(a, b, c))),
        V_MIN3_I16 => word(w, s, true, |[a, b, c]| (a as i16).min(b as i16).min(c as i16) as u16),
        V_MAX3_I16 => word(w, s, true, |[a, b, c]| (a as i16).max(b as i16).max(c as i16) as u16),
        V_MED3_I16 => word(w, s, true, |[a, b, c]| middle(a as i16, b as i16, c as i16) as u16),
        V_MIN3_U16 => word(w, s, true, |[a, b, c]| a.min(b).min(c)),
        V_MAX3_U16 => word(w, s, true, |[a, b, c]| a.max(b).max(c)),
        V_MED3_U16 => word(w, s, true, |[a, b, c]| middle(a, b, c)),
        V_ADD_I16 if clamp => word(w, s, true, |[a, b]| (a as i16).saturating_add(b as i16) as u16),
        V_SUB_I16 if clamp => word(w, s, true, |[a, b]| (a as i16).saturating_sub(b as i16) as u16),
        V_ADD_I16 => word(w, s, true, |[a, b]| a.wrapping_add(b)),
        V_SUB_I16 => word(w, s, true, |[a, b]| a.wrapping_sub(b)),
        V_MAD_U16 | V_MAD_I16 => word(w, s, true, |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)),
        V_MAD_LEGACY_U16 | V_MAD_LEGACY_I16 => word(w, s, false, |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)),
        V_MAD_F16 => fma16(w, s, false, false, true),
        V_MAD_LEGACY_F16 => fma16(w, s, false, false, false),
        V_FMA_F16 => fma16(w, s, true, false, true),
        V_FMA_LEGACY_F16 => fma16(w, s, true, false, false),
        V_MAD_U32_U16 => mixed_mad(w, s, |a, b| u32::from(a) * u32::from(b)),
        V_MAD_I32_I16 => mixed_mad(w, s, |a, b| (i32::from(a as i16) * i32::from(b as i16)) as u32),
        V_SAD_U8 => three(w, s, |a, b, c| sad_u8(a, b).wrapping_add(c)),
        V_SAD_HI_U8 => three(w, s, |a, b, c| (sad_u8(a, b) << 16).wrapping_add(c)),
        V_SAD_U16 => three(w, s, |a, b, c| {
            let word = |n: u32| (a >> n & 0xffff).abs_diff(b >> n & 0xffff);
            word(0).wrapping_add(word(16)).wrapping_add(c)
        }),
        V_SAD_U32 => three(w, s, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        V_MSAD_U8 => three(w, s, |a, b, c| {
            let byte = |n: u32| if b >> n & 0xff == 0 { 0 } else { (a >> n & 0xff).abs_diff(b >> n & 0xff) };
            (byte(0) + byte(8) + byte(16) + byte(24)).wrapping_add(c)
        }),
        V_CVT_PK_U8_F32 => three(w, s, |a, b, c| {
            let byte = f32::from_bits(a).round_ties_even() as u8;
            let at = 8 * (b & 3);
            c & !(0xff << at) | u32::from(byte) << at
        }),

        V_LDEXP_F32 => ldexp32(w, s),
        V_LDEXP_F64 => ldexp64(w, s),
        V_TRIG_PREOP_F64 => trig_preop(w, s),
        V_DIV_SCALE_F32 => division::div_scale32(w, s),
        V_DIV_SCALE_F64 => division::div_scale64(w, s),
        V_DIV_FMAS_F32 => division::div_fmas32(w, s),
        V_DIV_FMAS_F64 => division::div_fmas64(w, s),
        V_DIV_FIXUP_F32 => single3(w, s, float::div_fixup32),
        V_DIV_FIXUP_F64 => division::div_fixup64(w, s),
        V_DIV_FIXUP_F16 => half(w, s, true, |[a, b, c]| half_from_single(float::div_fixup32(a, b, c))),
        V_DIV_FIXUP_LEGACY_F16 => half(w, s, false, |[a, b, c]| half_from_single(float::div_fixup32(a, b, c))),

        V_READLANE_B32 => cross::read_lane(w, s),
        V_WRITELANE_B32 => cross::write_lane(w, s),
        V_MBCNT_LO_U32_B32 => cross::count_below(w, s, false),
        V_MBCNT_HI_U32_B32 => cross::count_below(w, s, true),

        V_CVT_PKRTZ_F16_F32 => packed_halves(w, s, Rounding::Zero),
        V_CVT_PKNORM_I16_F32 => pack_from(w, s, Kind::Single, |a| float::snorm16(f32::from_bits(a))),
        V_CVT_PKNORM_U16_F32 => pack_from(w, s, Kind::Single, |a| float::unorm16(f32::from_bits(a))),
        V_CVT_PKNORM_I16_F16 => pack_from(w, s, Kind::Half, |a| float::snorm16(half_to_single(a as u16))),
        V_CVT_PKNORM_U16_F16 => pack_from(w, s, Kind::Half, |a| float::unorm16(half_to_single(a as u16))),
        V_CVT_PK_U16_U32 => pack_from(w, s, Kind::Bits, |a| a.min(0xffff) as u16),
        V_CVT_PK_I16_I32 => pack_from(w, s, Kind::Bits, |a| (a as i32).clamp(-0x8000, 0x7fff) as i16 as u16),
        V_PACK_B32_F16 => pack_from(w, s, Kind::Half, |a| a as u16),
        _ => Err(Stop::Unsupported("")),
    }
}

/// Four bytes from a function of their bit positions.
fn bytes(f: impl Fn(u32) -> u32) -> u32 {
    f(0) & 0xff | (f(8) & 0xff) << 8 | (f(16) & 0xff) << 16 | (f(24) & 0xff) << 24
}

/// Sum of absolute differences of bytes.
fn sad_u8(a: u32, b: u32) -> u32 {
    let byte = |n: u32| (a >> n & 0xff).abs_diff(b >> n & 0xff);
    byte(0) + byte(8) + byte(16) + byte(24)
}

/// The middle one of three.
#[inline(always)]
fn middle<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

/// `v_perm_b32`: bytes of both sources by a selector; the second source is the low half.
#[inline(always)]
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let both = u64::from(a) << 32 | u64::from(b);
    bytes(|n| match selector >> n & 0xff {
        byte @ 0..=7 => (both >> (8 * byte)) as u32,
        sign @ 8..=11 => {
            if both >> (16 * (sign - 8) + 15) & 1 != 0 {
                0xff
            } else {
                0
            }
        }
        12 => 0,
        _ => 0xff,
    })
}

fn wide_mad(
    w: &mut Wave,
    s: &Slot,
    product: impl Fn(u32, u32) -> u128,
    addend: impl Fn(u64) -> u128,
) -> Result<(), Stop> {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = *src(w, s, 0, Kind::Bits, &mut buffer_a);
    let b = *src(w, s, 1, Kind::Bits, &mut buffer_b);
    let c = src64(w, s, 2, Kind64::Bits);
    let mut out = [0; LANES];
    let mut carries = [0; LANES];
    for l in 0..LANES {
        let sum = product(a.0[l], b.0[l]).wrapping_add(addend(c[l]));
        out[l] = sum as u64;
        carries[l] = (sum >> 64) as u32 & 1;
    }
    put64(w, &s.inst, &out);
    put_mask(w, s, gather_bits(&carries));
    Ok(())
}

fn shift64(w: &mut Wave, s: &Slot, f: impl Fn(u64, u32) -> u64) -> Result<(), Stop> {
    let mut buffer = Lanes::ZERO;
    let by = *src(w, s, 0, Kind::Bits, &mut buffer);
    let a = src64(w, s, 1, Kind64::Bits);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = f(a[l], by.0[l] & 63);
    }
    put64(w, &s.inst, &out);
    Ok(())
}

/// 16-bit factors and a 32-bit addend.
fn mixed_mad(w: &mut Wave, s: &Slot, f: impl Fn(u16, u16) -> u32) -> Result<(), Stop> {
    let mut buffers = [Lanes::ZERO; 3];
    let a = *src(w, s, 0, Kind::Bits16, &mut buffers[0]);
    let b = *src(w, s, 1, Kind::Bits16, &mut buffers[1]);
    let c = *src(w, s, 2, Kind::Bits, &mut buffers[2]);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = f(a.0[l] as u16, b.0[l] as u16).wrapping_add(c.0[l]);
    }
    put32(w, &s.inst, &out);
    Ok(())
}

fn pack_from(w: &mut Wave, s: &Slot, kind: Kind, f: impl Fn(u32) -> u16) -> Result<(), Stop> {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = *src(w, s, 0, kind, &mut buffer_a);
    let b = *src(w, s, 1, kind, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = u32::from(f(a.0[l])) | u32::from(f(b.0[l])) << 16;
    }
    put32(w, &s.inst, &out);
    Ok(())
}

fn packed_halves(w: &mut Wave, s: &Slot, rounding: Rounding) -> Result<(), Stop> {
    pack_from(w, s, Kind::Single, |a| float::narrow(f64::from(f32::from_bits(a)), float::Format::HALF, rounding) as u16)
}

fn ldexp32(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let (mut buffer_a, mut buffer_b) = (Lanes::ZERO, Lanes::ZERO);
    let a = *src(w, s, 0, Kind::Single, &mut buffer_a);
    let by = *src(w, s, 1, Kind::Bits, &mut buffer_b);
    let mut out = Lanes::ZERO;
    for l in 0..LANES {
        out.0[l] = float::ldexp32(f32::from_bits(a.0[l]), by.0[l] as i32).to_bits();
    }
    put_single(w, s, &mut out);
    Ok(())
}

fn ldexp64(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let a = src64(w, s, 0, Kind64::Double);
    let mut buffer = Lanes::ZERO;
    let by = *src(w, s, 1, Kind::Bits, &mut buffer);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = float::ldexp64(f64::from_bits(a[l]), by.0[l] as i32).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}

fn trig_preop(w: &mut Wave, s: &Slot) -> Result<(), Stop> {
    let a = src64(w, s, 0, Kind64::Double);
    let mut buffer = Lanes::ZERO;
    let segment = *src(w, s, 1, Kind::Bits, &mut buffer);
    let mut out = [0; LANES];
    for l in 0..LANES {
        out[l] = float::trig_preop(f64::from_bits(a[l]), segment.0[l]).to_bits();
    }
    put_double(w, s, &mut out);
    Ok(())
}
