//! DS: atomics on LDS.

use super::access::{read_lds, write_lds};
use super::atomic::{Op, lds64};
use super::lds::{addresses, count, lanes_of};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;
use crate::isa::table::ds::*;

/// The operation of an atomic: bit 5 of the opcode says whether it returns, bit 6 whether it is 64 bits wide.
pub(super) fn operation(op: u16) -> Option<Op> {
    if op >= 0x80 {
        return None;
    }
    Some(match op & 0x1f {
        0x00 => Op::Add,
        0x01 => Op::Sub,
        0x02 => Op::ReverseSub,
        0x03 => Op::Increment,
        0x04 => Op::Decrement,
        0x05 => Op::SignedMin,
        0x06 => Op::SignedMax,
        0x07 => Op::UnsignedMin,
        0x08 => Op::UnsignedMax,
        0x09 => Op::And,
        0x0a => Op::Or,
        0x0b => Op::Xor,
        0x0c => Op::MaskOr,
        0x0d if op & 0x20 != 0 => Op::Swap,
        0x10 => Op::Compare,
        0x11 => Op::CompareFloat,
        0x12 => Op::MinFloat,
        0x13 => Op::MaxFloat,
        0x14 if op == DS_WRAP_RTN_B32 => Op::Wrap,
        0x15 if op & 0x40 == 0 => Op::AddFloat,
        0x1c if op & 0x40 != 0 => Op::AddFloat,
        _ => return None,
    })
}

pub(super) fn atomic(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst, op: Op) -> Result<(), Stop> {
    let wide = i.op & 0x40 != 0;
    let at = addresses(w, i, i.imm as u32);
    let mask = w.exec;
    count(cx, &at, mask, if wide { 8 } else { 4 }, true, true);
    // Comparisons have the comparand first, unlike those of global memory.
    let compares = matches!(op, Op::Compare | Op::CompareFloat);
    let (data, second) = if compares { (i.src[2], i.src[1]) } else { (i.src[1], i.src[2]) };
    let mut old = [Lanes::ZERO; 2];
    for lane in lanes_of(mask) {
        let word = |operand: crate::isa::Operand, k| if operand.is_none() { 0 } else { w.v(operand, k).0[lane] };
        let pair = |operand| u64::from(word(operand, 0)) | u64::from(word(operand, usize::from(wide))) << 32;
        if wide {
            let before = lds64(cx, at[lane], op, pair(data), pair(second));
            old[0].0[lane] = before as u32;
            old[1].0[lane] = (before >> 32) as u32;
        } else {
            let before = read_lds(cx, at[lane], 4);
            write_lds(cx, at[lane], 4, op.apply32(before, word(data, 0), word(second, 0)));
            old[0].0[lane] = before;
        }
    }
    if !i.dst.is_none() {
        for (k, old) in old[..1 + usize::from(wide)].iter().enumerate() {
            w.put(i.dst, k, old, mask);
        }
    }
    Ok(())
}

/// `ds_append` and `ds_consume`: the number of active lanes is added to or taken from a counter that M0 points to.
pub(super) fn append(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let at = (w.m0() >> 16).wrapping_add(i.imm as u32);
    let active = w.exec.count_ones();
    let old = read_lds(cx, at, 4);
    let new = if i.op == DS_APPEND { old.wrapping_add(active) } else { old.wrapping_sub(active) };
    write_lds(cx, at, 4, new);
    let mask = w.exec;
    w.put(i.dst, 0, &Lanes([old; LANES]), mask);
    Ok(())
}
