//! SOP1.

use super::source::{src32, src64};
use crate::exec::step::Stop;
use crate::exec::wave::Wave;
use crate::isa::Inst;
use crate::isa::table::sop1::*;

/// Runs a SOP1 instruction.
pub(in crate::exec) fn sop1(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    match i.op {
        S_AND_SAVEEXEC_B64..=S_XNOR_SAVEEXEC_B64 | S_ANDN1_SAVEEXEC_B64..=S_ANDN2_WREXEC_B64 => return exec_mask(w, i),
        _ => {}
    }
    if i.row.src[0] == 2 || i.row.dst == 2 { wide(w, i) } else { narrow(w, i) }
}

fn narrow(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let a = src32(w, i, i.src[0]);
    let d = i.dst.0;
    let (value, scc) = match i.op {
        S_MOV_B32 => (a, None),
        S_CMOV_B32 => (if w.scc { a } else { w.s(d) }, None),
        S_NOT_B32 => (!a, Some(a != u32::MAX)),
        S_WQM_B32 => {
            let value = quads(u64::from(a)) as u32;
            (value, Some(value != 0))
        }
        S_BREV_B32 => (a.reverse_bits(), None),
        S_BCNT0_I32_B32 => (a.count_zeros(), Some(a != u32::MAX)),
        S_BCNT1_I32_B32 => (a.count_ones(), Some(a != 0)),
        S_FF0_I32_B32 => (first(u64::from(!a), 32), None),
        S_FF1_I32_B32 => (first(u64::from(a), 32), None),
        S_FLBIT_I32_B32 => (if a == 0 { u32::MAX } else { a.leading_zeros() }, None),
        S_FLBIT_I32 => (sign_bits(i64::from(a as i32), 32), None),
        S_SEXT_I32_I8 => (i32::from(a as i8) as u32, None),
        S_SEXT_I32_I16 => (i32::from(a as i16) as u32, None),
        S_BITSET0_B32 => (w.s(d) & !(1 << (a & 31)), None),
        S_BITSET1_B32 => (w.s(d) | 1 << (a & 31), None),
        S_QUADMASK_B32 => {
            let value = quad_mask(u64::from(a)) as u32;
            (value, Some(value != 0))
        }
        S_MOVRELS_B32 => (w.s(relative(i.src[0].0, w.m0())?), None),
        S_MOVRELD_B32 => {
            let to = relative(d, w.m0())?;
            w.set_s(to, a);
            return Ok(());
        }
        S_ABS_I32 => {
            let value = (a as i32).wrapping_abs() as u32;
            (value, Some(value != 0))
        }
        S_SET_GPR_IDX_IDX => {
            w.set_s(124, w.m0() & !0xff | a & 0xff);
            return Ok(());
        }
        _ => return Err(Stop::Unsupported("")),
    };
    w.set_s(d, value);
    w.scc = scc.unwrap_or(w.scc);
    Ok(())
}

fn wide(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let d = i.dst.0;
    match i.op {
        S_GETPC_B64 => {
            w.set_s64(d, w.pc);
            return Ok(());
        }
        S_BITSET0_B64 | S_BITSET1_B64 => {
            let bit = 1 << (src32(w, i, i.src[0]) & 63);
            let old = w.s64(d);
            w.set_s64(d, if i.op == S_BITSET1_B64 { old | bit } else { old & !bit });
            return Ok(());
        }
        S_BITREPLICATE_B64_B32 => {
            let a = src32(w, i, i.src[0]);
            w.set_s64(d, (0..32).map(|n| (u64::from(a >> n & 1) * 3) << (2 * n)).sum());
            return Ok(());
        }
        _ => {}
    }
    let a = src64(w, i, i.src[0], false);
    let (value, scc) = match i.op {
        S_MOV_B64 => (a, None),
        S_CMOV_B64 => (if w.scc { a } else { w.s64(d) }, None),
        S_NOT_B64 => (!a, Some(a != u64::MAX)),
        S_WQM_B64 => (quads(a), Some(a != 0)),
        S_BREV_B64 => (a.reverse_bits(), None),
        S_QUADMASK_B64 => (quad_mask(a), Some(a != 0)),
        S_MOVRELS_B64 => (w.s64(relative(i.src[0].0, w.m0())?), None),
        S_MOVRELD_B64 => {
            let to = relative(d, w.m0())?;
            w.set_s64(to, a);
            return Ok(());
        }
        S_SETPC_B64 => {
            w.pc = a & !3;
            return Ok(());
        }
        S_SWAPPC_B64 => {
            w.set_s64(d, w.pc);
            w.pc = a & !3;
            return Ok(());
        }
        S_BCNT0_I32_B64 => return count(w, d, a.count_zeros(), Some(a != u64::MAX)),
        S_BCNT1_I32_B64 => return count(w, d, a.count_ones(), Some(a != 0)),
        S_FF0_I32_B64 => return count(w, d, first(!a, 64), None),
        S_FF1_I32_B64 => return count(w, d, first(a, 64), None),
        S_FLBIT_I32_B64 => return count(w, d, if a == 0 { u32::MAX } else { a.leading_zeros() }, None),
        S_FLBIT_I32_I64 => return count(w, d, sign_bits(a as i64, 64), None),
        _ => return Err(Stop::Unsupported("")),
    };
    w.set_s64(d, value);
    w.scc = scc.unwrap_or(w.scc);
    Ok(())
}

fn count(w: &mut Wave, d: u16, value: u32, scc: Option<bool>) -> Result<(), Stop> {
    w.set_s(d, value);
    w.scc = scc.unwrap_or(w.scc);
    Ok(())
}

/// The instructions that combine EXEC with a source: they save the old mask, or the new one.
fn exec_mask(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let a = src64(w, i, i.src[0], false);
    let old = w.exec;
    let new = match i.op {
        S_AND_SAVEEXEC_B64 => a & old,
        S_OR_SAVEEXEC_B64 => a | old,
        S_XOR_SAVEEXEC_B64 => a ^ old,
        S_ANDN2_SAVEEXEC_B64 | S_ANDN2_WREXEC_B64 => a & !old,
        S_ORN2_SAVEEXEC_B64 => a | !old,
        S_NAND_SAVEEXEC_B64 => !(a & old),
        S_NOR_SAVEEXEC_B64 => !(a | old),
        S_XNOR_SAVEEXEC_B64 => !(a ^ old),
        S_ANDN1_SAVEEXEC_B64 | S_ANDN1_WREXEC_B64 => !a & old,
        S_ORN1_SAVEEXEC_B64 => !a | old,
        _ => return Err(Stop::Unsupported("")),
    };
    let wrexec = matches!(i.op, S_ANDN1_WREXEC_B64 | S_ANDN2_WREXEC_B64);
    w.set_s64(i.dst.0, if wrexec { new } else { old });
    w.exec = new;
    w.scc = new != 0;
    Ok(())
}

/// The lowest set bit, or all ones.
fn first(value: u64, size: u32) -> u32 {
    match value.trailing_zeros() {
        n if n >= size => u32::MAX,
        n => n,
    }
}

/// How many bits at the top equal the sign, or all ones where all do.
fn sign_bits(value: i64, size: u32) -> u32 {
    let differs = (value ^ value >> 63) as u64;
    if differs == 0 { u32::MAX } else { differs.leading_zeros() - (64 - size) }
}

/// Each group of four bits becomes all ones where any of it is set.
fn quads(value: u64) -> u64 {
    (0..16).map(|n| if value >> (4 * n) & 0xf != 0 { 0xf << (4 * n) } else { 0 }).sum()
}

/// One bit for each group of four.
fn quad_mask(value: u64) -> u64 {
    (0..16).map(|n| u64::from(value >> (4 * n) & 0xf != 0) << n).sum()
}

/// A scalar register relative to M0.
fn relative(number: u16, m0: u32) -> Result<u16, Stop> {
    match u32::from(number).checked_add(m0) {
        Some(n @ 0..102) => Ok(n as u16),
        _ => Err(Stop::Unsupported("a register index out of range")),
    }
}
