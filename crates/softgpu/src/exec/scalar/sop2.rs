//! SOP2, SOPC and SOPK.

use super::hwreg;
use super::source::{src32, src64};
use crate::exec::step::Stop;
use crate::exec::wave::Wave;
use crate::isa::Inst;
use crate::isa::table::{sop2::*, sopc::*, sopk::*};

/// Runs a SOP2 instruction.
pub(in crate::exec) fn sop2(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    if i.row.src[0] == 2 || i.row.dst == 2 {
        return wide(w, i);
    }
    let a = src32(w, i, i.src[0]);
    let b = src32(w, i, i.src[1]);
    let (sa, sb) = (a as i32, b as i32);
    // What the instruction gives, and SCC where it sets it.
    let not_zero = |value: u32| (value, Some(value != 0));
    let keep = |value: u32| (value, None);
    let carry = |(value, carry): (u32, bool)| (value, Some(carry));
    let signed = |(value, overflow): (i32, bool)| (value as u32, Some(overflow));
    let (value, scc) = match i.op {
        S_ADD_U32 => carry(a.overflowing_add(b)),
        S_SUB_U32 => carry(a.overflowing_sub(b)),
        S_ADD_I32 => signed(sa.overflowing_add(sb)),
        S_SUB_I32 => signed(sa.overflowing_sub(sb)),
        S_ADDC_U32 => {
            let sum = u64::from(a) + u64::from(b) + u64::from(w.scc);
            (sum as u32, Some(sum >> 32 != 0))
        }
        S_SUBB_U32 => {
            let take = u64::from(b) + u64::from(w.scc);
            (a.wrapping_sub(take as u32), Some(take > u64::from(a)))
        }
        S_MIN_I32 => (sa.min(sb) as u32, Some(sa < sb)),
        S_MIN_U32 => (a.min(b), Some(a < b)),
        S_MAX_I32 => (sa.max(sb) as u32, Some(sa > sb)),
        S_MAX_U32 => (a.max(b), Some(a > b)),
        S_CSELECT_B32 => keep(if w.scc { a } else { b }),
        S_AND_B32 => not_zero(a & b),
        S_OR_B32 => not_zero(a | b),
        S_XOR_B32 => not_zero(a ^ b),
        S_ANDN2_B32 => not_zero(a & !b),
        S_ORN2_B32 => not_zero(a | !b),
        S_NAND_B32 => not_zero(!(a & b)),
        S_NOR_B32 => not_zero(!(a | b)),
        S_XNOR_B32 => not_zero(!(a ^ b)),
        S_LSHL_B32 => not_zero(a << (b & 31)),
        S_LSHR_B32 => not_zero(a >> (b & 31)),
        S_ASHR_I32 => not_zero((sa >> (b & 31)) as u32),
        S_BFM_B32 => keep(((1u32 << (a & 31)) - 1) << (b & 31)),
        S_MUL_I32 => keep(a.wrapping_mul(b)),
        S_BFE_U32 => not_zero(bfe(u64::from(a), b & 31, b >> 16 & 0x7f, false, 32) as u32),
        S_BFE_I32 => not_zero(bfe(u64::from(a), b & 31, b >> 16 & 0x7f, true, 32) as u32),
        S_ABSDIFF_I32 => not_zero(sa.wrapping_sub(sb).wrapping_abs() as u32),
        S_MUL_HI_U32 => keep(((u64::from(a) * u64::from(b)) >> 32) as u32),
        S_MUL_HI_I32 => keep(((i64::from(sa) * i64::from(sb)) >> 32) as u32),
        S_LSHL1_ADD_U32 | S_LSHL2_ADD_U32 | S_LSHL3_ADD_U32 | S_LSHL4_ADD_U32 => {
            let sum = (u64::from(a) << (i.op - S_LSHL1_ADD_U32 + 1)) + u64::from(b);
            (sum as u32, Some(sum >> 32 != 0))
        }
        S_PACK_LL_B32_B16 => keep(a & 0xffff | b << 16),
        S_PACK_LH_B32_B16 => keep(a & 0xffff | b & 0xffff_0000),
        S_PACK_HH_B32_B16 => keep(a >> 16 | b & 0xffff_0000),
        _ => return Err(Stop::Unsupported("")),
    };
    w.set_s(i.dst.0, value);
    w.scc = scc.unwrap_or(w.scc);
    Ok(())
}

fn wide(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    if i.op == S_BFM_B64 {
        let (a, b) = (src32(w, i, i.src[0]), src32(w, i, i.src[1]));
        w.set_s64(i.dst.0, ((1u64 << (a & 63)) - 1) << (b & 63));
        return Ok(());
    }
    let signed = matches!(i.op, S_ASHR_I64 | S_BFE_I64);
    let a = src64(w, i, i.src[0], signed);
    // Shifts and fields take a 32-bit second source.
    let b = if i.row.src[1] == 2 && !matches!(i.op, S_BFE_U64 | S_BFE_I64) {
        src64(w, i, i.src[1], false)
    } else {
        u64::from(src32(w, i, i.src[1]))
    };
    let count = b as u32 & 63;
    let value = match i.op {
        S_CSELECT_B64 => {
            w.set_s64(i.dst.0, if w.scc { a } else { b });
            return Ok(());
        }
        S_AND_B64 => a & b,
        S_OR_B64 => a | b,
        S_XOR_B64 => a ^ b,
        S_ANDN2_B64 => a & !b,
        S_ORN2_B64 => a | !b,
        S_NAND_B64 => !(a & b),
        S_NOR_B64 => !(a | b),
        S_XNOR_B64 => !(a ^ b),
        S_LSHL_B64 => a << count,
        S_LSHR_B64 => a >> count,
        S_ASHR_I64 => (a as i64 >> count) as u64,
        S_BFE_U64 => bfe(a, count, b as u32 >> 16 & 0x7f, false, 64),
        S_BFE_I64 => bfe(a, count, b as u32 >> 16 & 0x7f, true, 64),
        _ => return Err(Stop::Unsupported("")),
    };
    w.set_s64(i.dst.0, value);
    w.scc = value != 0;
    Ok(())
}

/// A bit field of a number of `size` bits, zero- or sign-extended.
fn bfe(value: u64, first: u32, count: u32, signed: bool, size: u32) -> u64 {
    let value = if size == 32 && signed { i64::from(value as u32 as i32) as u64 } else { value };
    let shifted = if signed { (value as i64 >> first) as u64 } else { value >> first };
    match count {
        0 => 0,
        n if n >= 64 => shifted,
        n if signed => ((shifted << (64 - n)) as i64 >> (64 - n)) as u64,
        n => shifted & ((1 << n) - 1),
    }
}

/// Runs a SOPC instruction.
pub(in crate::exec) fn sopc(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    if i.row.src[0] == 2 {
        let a = src64(w, i, i.src[0], false);
        w.scc = match i.op {
            S_CMP_EQ_U64 => a == src64(w, i, i.src[1], false),
            S_CMP_LG_U64 => a != src64(w, i, i.src[1], false),
            S_BITCMP0_B64 => a >> (src32(w, i, i.src[1]) & 63) & 1 == 0,
            S_BITCMP1_B64 => a >> (src32(w, i, i.src[1]) & 63) & 1 == 1,
            _ => return Err(Stop::Unsupported("")),
        };
        return Ok(());
    }
    let a = src32(w, i, i.src[0]);
    if i.op == S_SET_GPR_IDX_ON {
        w.gpr_index = i.imm as u8 & 0xf;
        w.set_s(124, w.m0() & !0xf0ff | a & 0xff | u32::from(w.gpr_index) << 12);
        return Ok(());
    }
    let b = src32(w, i, i.src[1]);
    let (sa, sb) = (a as i32, b as i32);
    w.scc = match i.op {
        S_CMP_EQ_I32 | S_CMP_EQ_U32 => a == b,
        S_CMP_LG_I32 | S_CMP_LG_U32 => a != b,
        S_CMP_GT_I32 => sa > sb,
        S_CMP_GE_I32 => sa >= sb,
        S_CMP_LT_I32 => sa < sb,
        S_CMP_LE_I32 => sa <= sb,
        S_CMP_GT_U32 => a > b,
        S_CMP_GE_U32 => a >= b,
        S_CMP_LT_U32 => a < b,
        S_CMP_LE_U32 => a <= b,
        S_BITCMP0_B32 => a >> (b & 31) & 1 == 0,
        S_BITCMP1_B32 => a >> (b & 31) & 1 == 1,
        _ => return Err(Stop::Unsupported("")),
    };
    Ok(())
}

/// Runs a SOPK instruction.
pub(in crate::exec) fn sopk(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let d = i.dst.0;
    let k = i.imm;
    let ku = k as u32 & 0xffff;
    match i.op {
        S_MOVK_I32 => w.set_s(d, k as u32),
        S_CMOVK_I32 => {
            if w.scc {
                w.set_s(d, k as u32);
            }
        }
        S_CMPK_EQ_I32 => w.scc = w.s(d) as i32 == k,
        S_CMPK_LG_I32 => w.scc = w.s(d) as i32 != k,
        S_CMPK_GT_I32 => w.scc = w.s(d) as i32 > k,
        S_CMPK_GE_I32 => w.scc = w.s(d) as i32 >= k,
        S_CMPK_LT_I32 => w.scc = (w.s(d) as i32) < k,
        S_CMPK_LE_I32 => w.scc = w.s(d) as i32 <= k,
        S_CMPK_EQ_U32 => w.scc = w.s(d) == ku,
        S_CMPK_LG_U32 => w.scc = w.s(d) != ku,
        S_CMPK_GT_U32 => w.scc = w.s(d) > ku,
        S_CMPK_GE_U32 => w.scc = w.s(d) >= ku,
        S_CMPK_LT_U32 => w.scc = w.s(d) < ku,
        S_CMPK_LE_U32 => w.scc = w.s(d) <= ku,
        S_ADDK_I32 => {
            let (sum, overflow) = (w.s(d) as i32).overflowing_add(k);
            w.set_s(d, sum as u32);
            w.scc = overflow;
        }
        S_MULK_I32 => w.set_s(d, (w.s(d) as i32).wrapping_mul(k) as u32),
        S_GETREG_B32 => {
            let value = hwreg::get(w, i.imm)?;
            w.set_s(d, value);
        }
        S_SETREG_B32 => hwreg::set(w, i.imm, w.s(d))?,
        S_SETREG_IMM32_B32 => hwreg::set(w, i.imm, i.literal)?,
        S_CALL_B64 => {
            w.set_s64(d, w.pc);
            w.pc = w.pc.wrapping_add_signed(i64::from(k) * 4);
        }
        _ => return Err(Stop::Unsupported("")),
    }
    Ok(())
}
