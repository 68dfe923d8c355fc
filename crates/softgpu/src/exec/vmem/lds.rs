//! DS: LDS loads, stores and atomics, and the lane permutations that go through its crossbar.

use super::access::{Half, Shape, place, read_lds, write_lds};
use super::atomic::{Op, lds64};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Inst;
use crate::isa::table::ds::*;

/// Runs a DS instruction.
pub(in crate::exec) fn lds(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    if i.lds_or_gds {
        return Err(Stop::Unsupported("global data share"));
    }
    let small = |bytes, signed, half| Shape::Small { bytes, signed, half };
    match i.op {
        DS_READ_B32 => load(cx, w, i, Shape::Dwords(1)),
        DS_READ_B64 => load(cx, w, i, Shape::Dwords(2)),
        DS_READ_B96 => load(cx, w, i, Shape::Dwords(3)),
        DS_READ_B128 => load(cx, w, i, Shape::Dwords(4)),
        DS_READ_I8 => load(cx, w, i, small(1, true, Half::Whole)),
        DS_READ_U8 => load(cx, w, i, small(1, false, Half::Whole)),
        DS_READ_I16 => load(cx, w, i, small(2, true, Half::Whole)),
        DS_READ_U16 => load(cx, w, i, small(2, false, Half::Whole)),
        DS_READ_U8_D16 => load(cx, w, i, small(1, false, Half::Low)),
        DS_READ_U8_D16_HI => load(cx, w, i, small(1, false, Half::High)),
        DS_READ_I8_D16 => load(cx, w, i, small(1, true, Half::Low)),
        DS_READ_I8_D16_HI => load(cx, w, i, small(1, true, Half::High)),
        DS_READ_U16_D16 => load(cx, w, i, small(2, false, Half::Low)),
        DS_READ_U16_D16_HI => load(cx, w, i, small(2, false, Half::High)),
        DS_READ2_B32 => load_two(cx, w, i, 1, 1),
        DS_READ2ST64_B32 => load_two(cx, w, i, 1, 64),
        DS_READ2_B64 => load_two(cx, w, i, 2, 1),
        DS_READ2ST64_B64 => load_two(cx, w, i, 2, 64),
        DS_WRITE_B32 => store(cx, w, i, Shape::Dwords(1)),
        DS_WRITE_B64 => store(cx, w, i, Shape::Dwords(2)),
        DS_WRITE_B96 => store(cx, w, i, Shape::Dwords(3)),
        DS_WRITE_B128 => store(cx, w, i, Shape::Dwords(4)),
        DS_WRITE_B8 => store(cx, w, i, small(1, false, Half::Low)),
        DS_WRITE_B16 => store(cx, w, i, small(2, false, Half::Low)),
        DS_WRITE_B8_D16_HI => store(cx, w, i, small(1, false, Half::High)),
        DS_WRITE_B16_D16_HI => store(cx, w, i, small(2, false, Half::High)),
        DS_WRITE2_B32 => store_two(cx, w, i, 1, 1),
        DS_WRITE2ST64_B32 => store_two(cx, w, i, 1, 64),
        DS_WRITE2_B64 => store_two(cx, w, i, 2, 1),
        DS_WRITE2ST64_B64 => store_two(cx, w, i, 2, 64),
        DS_SWIZZLE_B32 => swizzle(w, i),
        DS_PERMUTE_B32 => permute(w, i, false),
        DS_BPERMUTE_B32 => permute(w, i, true),
        DS_APPEND | DS_CONSUME => append(cx, w, i),
        DS_NOP => Ok(()),
        op => match operation(op) {
            Some(kind) => atomic(cx, w, i, kind),
            None => Err(Stop::Unsupported("")),
        },
    }
}

/// The operation of an atomic: bit 5 of the opcode says whether it returns, bit 6 whether it is 64 bits wide.
fn operation(op: u16) -> Option<Op> {
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

/// Counts bytes and bank conflicts of an access of `dwords` a lane.
fn count(cx: &mut Cx<'_>, addresses: &[u32; LANES], mask: u64, bytes: u64, read: bool, written: bool) {
    let active = u64::from(mask.count_ones());
    if read {
        cx.counts.sums.lds_read_bytes += active * bytes;
    }
    if written {
        cx.counts.sums.lds_write_bytes += active * bytes;
    }
    cx.counts.sums.lds_bank_conflicts += cx.conflicts.count(addresses, mask, bytes.div_ceil(4) as usize);
}

/// The first address, where all lanes are active and each follows the one before.
#[inline]
pub(super) fn consecutive(addresses: &[u32; LANES], mask: u64, bytes: u32) -> Option<u32> {
    let first = addresses[0];
    let mut differs = 0;
    for (lane, address) in addresses.iter().enumerate() {
        differs |= address ^ first.wrapping_add(lane as u32 * bytes);
    }
    (mask == u64::MAX && differs == 0).then_some(first)
}

/// Lanes' addresses plus an offset.
fn addresses(w: &Wave, i: &Inst, offset: u32) -> [u32; LANES] {
    w.v(i.src[0], 0).0.map(|address| address.wrapping_add(offset))
}

fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

fn load(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst, shape: Shape) -> Result<(), Stop> {
    let at = addresses(w, i, i.imm as u32);
    let mask = w.exec;
    count(cx, &at, mask, shape.bytes(), true, false);
    let old = *w.v(i.dst, 0);
    match shape {
        Shape::Small { bytes, .. } => {
            let mut out = Lanes::ZERO;
            for lane in lanes_of(mask) {
                out.0[lane] = place(shape, read_lds(cx, at[lane], bytes.into()), old.0[lane]);
            }
            w.put(i.dst, 0, &out, mask);
        }
        Shape::Dwords(count) => {
            for k in 0..count {
                let out = read_dwords(cx, &at, mask, 4 * k as u32);
                w.put(i.dst, k, &out, mask);
            }
        }
    }
    Ok(())
}

fn store(cx: &mut Cx<'_>, w: &Wave, i: &Inst, shape: Shape) -> Result<(), Stop> {
    let at = addresses(w, i, i.imm as u32);
    count(cx, &at, w.exec, shape.bytes(), false, true);
    match shape {
        Shape::Small { bytes, half, .. } => {
            let shift = if half == Half::High { 16 } else { 0 };
            for lane in lanes_of(w.exec) {
                write_lds(cx, at[lane], bytes.into(), w.v(i.src[1], 0).0[lane] >> shift);
            }
        }
        Shape::Dwords(count) => {
            let first = consecutive(&at, w.exec, 4).filter(|first| count == 1 && first % 4 == 0);
            if let Some(to) = first.and_then(|first| cx.lds.get_mut(first as usize / 4..first as usize / 4 + LANES)) {
                to.copy_from_slice(&w.v(i.src[1], 0).0);
                return Ok(());
            }
            for lane in lanes_of(w.exec) {
                for k in 0..count {
                    write_lds(cx, at[lane].wrapping_add(4 * k as u32), 4, w.v(i.src[1], k).0[lane]);
                }
            }
        }
    }
    Ok(())
}

/// Reads one dword of each active lane, `plus` bytes behind its address.
fn read_dwords(cx: &Cx<'_>, addresses: &[u32; LANES], mask: u64, plus: u32) -> Lanes {
    let mut out = Lanes::ZERO;
    if mask == u64::MAX {
        if let Some(first) = consecutive(addresses, mask, 4).map(|first| first.wrapping_add(plus))
            && first % 4 == 0
            && let Some(from) = cx.lds.get(first as usize / 4..first as usize / 4 + LANES)
        {
            out.0.copy_from_slice(from);
            return out;
        }
        for (out, address) in out.0.iter_mut().zip(addresses) {
            *out = read_lds(cx, address.wrapping_add(plus), 4);
        }
        return out;
    }
    for lane in lanes_of(mask) {
        out.0[lane] = read_lds(cx, addresses[lane].wrapping_add(plus), 4);
    }
    out
}

/// The two offsets of a pair of accesses, in bytes.
fn two_offsets(i: &Inst, dwords: u32, stride: u32) -> [u32; 2] {
    let imm = i.imm as u32;
    [(imm & 0xff) * 4 * dwords * stride, (imm >> 8 & 0xff) * 4 * dwords * stride]
}

fn load_two(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst, dwords: u32, stride: u32) -> Result<(), Stop> {
    let mask = w.exec;
    let mut out = [Lanes::ZERO; 4];
    for (n, offset) in two_offsets(i, dwords, stride).into_iter().enumerate() {
        let at = addresses(w, i, offset);
        count(cx, &at, mask, 4 * u64::from(dwords), true, false);
        for k in 0..dwords {
            out[n * dwords as usize + k as usize] = read_dwords(cx, &at, mask, 4 * k);
        }
    }
    for (k, out) in out[..2 * dwords as usize].iter().enumerate() {
        w.put(i.dst, k, out, mask);
    }
    Ok(())
}

fn store_two(cx: &mut Cx<'_>, w: &Wave, i: &Inst, dwords: u32, stride: u32) -> Result<(), Stop> {
    for (n, offset) in two_offsets(i, dwords, stride).into_iter().enumerate() {
        let at = addresses(w, i, offset);
        count(cx, &at, w.exec, 4 * u64::from(dwords), false, true);
        for lane in lanes_of(w.exec) {
            for k in 0..dwords {
                write_lds(cx, at[lane].wrapping_add(4 * k), 4, w.v(i.src[1 + n], k as usize).0[lane]);
            }
        }
    }
    Ok(())
}

fn atomic(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst, op: Op) -> Result<(), Stop> {
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
fn append(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let at = (w.m0() >> 16).wrapping_add(i.imm as u32);
    let active = w.exec.count_ones();
    let old = read_lds(cx, at, 4);
    let new = if i.op == DS_APPEND { old.wrapping_add(active) } else { old.wrapping_sub(active) };
    write_lds(cx, at, 4, new);
    let mask = w.exec;
    w.put(i.dst, 0, &Lanes([old; LANES]), mask);
    Ok(())
}

/// `ds_permute_b32` (push) and `ds_bpermute_b32` (pull).
fn permute(w: &mut Wave, i: &Inst, pull: bool) -> Result<(), Stop> {
    let at = addresses(w, i, i.imm as u32);
    let data = *w.v(i.src[1], 0);
    let mut out = Lanes::ZERO;
    for lane in lanes_of(w.exec) {
        let other = at[lane] as usize / 4 % LANES;
        match pull {
            true if w.exec >> other & 1 != 0 => out.0[lane] = data.0[other],
            true => {}
            false => out.0[other] = data.0[lane],
        }
    }
    let mask = w.exec;
    w.put(i.dst, 0, &out, mask);
    Ok(())
}

/// `ds_swizzle_b32`.
fn swizzle(w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    let code = i.imm as usize;
    if code >= 0xe000 {
        return Err(Stop::Unsupported("FFT swizzle"));
    }
    let from = *w.v(i.src[0], 0);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let (half, at) = (lane & 32, lane & 31);
        let other = match code {
            0xc000.. => {
                let (keep, by) = (code & 0x1f, code >> 5 & 0x1f);
                let turned = if code >> 10 & 1 != 0 { at + 32 - by } else { at + by };
                half + (at & keep | turned & !keep & 0x1f)
            }
            0x8000.. => (lane & !3) + (code >> (2 * (lane & 3)) & 3),
            _ => half + ((at & code & 0x1f | code >> 5 & 0x1f) ^ code >> 10 & 0x1f),
        };
        out.0[lane] = if w.exec >> other & 1 != 0 { from.0[other] } else { 0 };
    }
    let mask = w.exec;
    w.put(i.dst, 0, &out, mask);
    Ok(())
}
