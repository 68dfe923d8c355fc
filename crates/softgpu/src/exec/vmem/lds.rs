//! DS: LDS loads and stores.

use super::access::{read_lds, write_lds};
use super::crossbar::{permute, swizzle};
use super::lds_atomic::{append, atomic, operation};
use super::shape::{Half, Shape, place};
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

/// Counts bytes and bank conflicts of an access of `dwords` a lane.
pub(super) fn count(cx: &mut Cx<'_>, addresses: &[u32; LANES], mask: u64, bytes: u64, read: bool, written: bool) {
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
pub(super) fn addresses(w: &Wave, i: &Inst, offset: u32) -> [u32; LANES] {
    w.v(i.src[0], 0).0.map(|address| address.wrapping_add(offset))
}

pub(super) fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
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
