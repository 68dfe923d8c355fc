//! Atomics: what they compute, and how they reach memory.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::access::{read_lds, write_lds};
use super::address::{Addresses, Space};
use crate::contract::BadAddress;
use crate::exec::memory::{load32, store32};
use crate::exec::step::{Cx, Stop};
use crate::exec::vector::{half_from_single, half_to_single};
use crate::exec::wave::{Lanes, Wave};
use crate::isa::Operand;

/// What an atomic computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Swap,
    /// Stores the data where memory equals the comparand.
    Compare,
    /// The same, compared as floats.
    CompareFloat,
    Add,
    Sub,
    /// The data minus memory.
    ReverseSub,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    /// Clears the bits of the data, then sets those of the second.
    MaskOr,
    Increment,
    Decrement,
    /// Subtracts where memory is at least the data, else adds the second.
    Wrap,
    AddFloat,
    MinFloat,
    MaxFloat,
    AddHalves,
}

impl Op {
    /// The operation of a FLAT or MUBUF opcode.
    fn of(op: u16) -> Option<Op> {
        Some(match op {
            0x40 | 0x60 => Op::Swap,
            0x41 | 0x61 => Op::Compare,
            0x42 | 0x62 => Op::Add,
            0x43 | 0x63 => Op::Sub,
            0x44 | 0x64 => Op::SignedMin,
            0x45 | 0x65 => Op::UnsignedMin,
            0x46 | 0x66 => Op::SignedMax,
            0x47 | 0x67 => Op::UnsignedMax,
            0x48 | 0x68 => Op::And,
            0x49 | 0x69 => Op::Or,
            0x4a | 0x6a => Op::Xor,
            0x4b | 0x6b => Op::Increment,
            0x4c | 0x6c => Op::Decrement,
            0x4d | 0x4f => Op::AddFloat,
            0x4e => Op::AddHalves,
            0x50 => Op::MinFloat,
            0x51 => Op::MaxFloat,
            _ => return None,
        })
    }
}

/// Both widths of what an atomic computes.
macro_rules! apply {
    ($(#[$doc:meta])* $name:ident, $word:ty, $signed:ty, $float:ty, $halves:expr) => {
        impl Op {
            $(#[$doc])*
            pub(super) fn $name(self, old: $word, data: $word, second: $word) -> $word {
                let (of, df) = (<$float>::from_bits(old), <$float>::from_bits(data));
                let keep_unless = |replace: bool| if replace { data } else { old };
                match self {
                    Op::Swap => data,
                    Op::Compare => keep_unless(old == second),
                    Op::CompareFloat => keep_unless(of == <$float>::from_bits(second)),
                    Op::Add => old.wrapping_add(data),
                    Op::Sub => old.wrapping_sub(data),
                    Op::ReverseSub => data.wrapping_sub(old),
                    Op::SignedMin => (old as $signed).min(data as $signed) as $word,
                    Op::UnsignedMin => old.min(data),
                    Op::SignedMax => (old as $signed).max(data as $signed) as $word,
                    Op::UnsignedMax => old.max(data),
                    Op::And => old & data,
                    Op::Or => old | data,
                    Op::Xor => old ^ data,
                    Op::MaskOr => old & !data | second,
                    Op::Increment => {
                        if old >= data {
                            0
                        } else {
                            old + 1
                        }
                    }
                    Op::Decrement => {
                        if old == 0 || old > data {
                            data
                        } else {
                            old - 1
                        }
                    }
                    Op::Wrap => {
                        if old >= data {
                            old - data
                        } else {
                            old.wrapping_add(second)
                        }
                    }
                    Op::AddFloat => (of + df).to_bits(),
                    Op::MinFloat => keep_unless(df < of || of.is_nan()),
                    Op::MaxFloat => keep_unless(df > of || of.is_nan()),
                    Op::AddHalves => $halves(old, data),
                }
            }
        }
    };
}

apply!(
    /// The new value of a dword. `second` is the comparand, or the second operand of an LDS atomic.
    apply32, u32, i32, f32, add_halves
);
apply!(
    /// The new value of a quadword. There is no instruction of 64 bits that adds halves.
    apply64, u64, i64, f64, |old: u64, _| old
);

/// Adds two halves to two.
fn add_halves(old: u32, data: u32) -> u32 {
    let add = |shift: u32| {
        let half = |bits: u32| half_to_single((bits >> shift) as u16);
        u32::from(half_from_single(half(old) + half(data))) << shift
    };
    add(0) | add(16)
}

/// Whether a FLAT or MUBUF atomic works on quadwords.
fn is_wide(op: u16) -> bool {
    op >= 0x60 || matches!(op, 0x4f..=0x51)
}

/// Runs an atomic of FLAT or MUBUF. `dst` is where the old value goes, if anywhere.
pub(super) fn run(
    cx: &mut Cx<'_>,
    w: &mut Wave,
    a: &Addresses,
    op: u16,
    data: Operand,
    dst: Operand,
) -> Result<(), Stop> {
    let kind = Op::of(op).ok_or(Stop::Unsupported(""))?;
    let wide = is_wide(op);
    let bytes = if wide { 8 } else { 4 };
    let mut old = [Lanes::ZERO; 2];
    cx.lines.start();
    for lane in a.active() {
        let address = a.lanes[lane];
        let word = |n: usize| w.v(data, n).0[lane];
        let pair = |n: usize| u64::from(word(n)) | u64::from(word(n + 1)) << 32;
        let compares = kind == Op::Compare;
        let before = if wide {
            one64(cx, a, lane, address, kind, pair(0), if compares { pair(2) } else { 0 })?
        } else {
            u64::from(one32(cx, a, lane, address, kind, word(0), if compares { word(1) } else { 0 })?)
        };
        old[0].0[lane] = before as u32;
        old[1].0[lane] = (before >> 32) as u32;
        if a.space(address) == Space::Global {
            cx.counts.sums.global_atomic_bytes += bytes;
            cx.lines.add(address, bytes);
        }
    }
    cx.counts.sums.atomic_lines += cx.lines.count();
    if !dst.is_none() {
        for (k, old) in old[..if wide { 2 } else { 1 }].iter().enumerate() {
            w.put(dst, k, old, a.mask);
        }
    }
    Ok(())
}

/// A global word for an atomic: mapped, writable, and aligned for both sides, or the access faults.
fn global<T>(cx: &mut Cx<'_>, address: u64) -> Result<*mut T, Stop> {
    let bytes = size_of::<T>() as u64;
    let misaligned = Stop::Bad(BadAddress { address, bytes, write: true });
    if !address.is_multiple_of(bytes) {
        return Err(misaligned);
    }
    let at = cx.maps.at(address, bytes, true)?.cast::<T>();
    cx.maps.announce(address, bytes);
    if at.is_aligned() { Ok(at) } else { Err(misaligned) }
}

fn one32(
    cx: &mut Cx<'_>,
    a: &Addresses,
    lane: usize,
    address: u64,
    op: Op,
    data: u32,
    second: u32,
) -> Result<u32, Stop> {
    match a.space(address) {
        Space::Global => {
            let at = global(cx, address)?;
            // SAFETY: `at` is valid for four bytes, may be written, and is aligned.
            let memory = unsafe { AtomicU32::from_ptr(at) };
            Ok(memory.update(Ordering::AcqRel, Ordering::Relaxed, |old| op.apply32(old, data, second)))
        }
        Space::Lds => {
            let old = read_lds(cx, address as u32, 4);
            write_lds(cx, address as u32, 4, op.apply32(old, data, second));
            Ok(old)
        }
        Space::Private => {
            let at = cx.maps.at(a.private_at(lane, address), 4, true)?;
            // SAFETY: `at` is valid for four bytes and may be written; the memory is this wave's.
            unsafe {
                let old = load32(at);
                store32(at, op.apply32(old, data, second));
                Ok(old)
            }
        }
    }
}

fn one64(
    cx: &mut Cx<'_>,
    a: &Addresses,
    lane: usize,
    address: u64,
    op: Op,
    data: u64,
    second: u64,
) -> Result<u64, Stop> {
    match a.space(address) {
        Space::Global => {
            let at = global(cx, address)?;
            // SAFETY: `at` is valid for eight bytes, may be written, and is aligned.
            let memory = unsafe { AtomicU64::from_ptr(at) };
            Ok(memory.update(Ordering::AcqRel, Ordering::Relaxed, |old| op.apply64(old, data, second)))
        }
        Space::Lds => Ok(lds64(cx, address as u32, op, data, second)),
        Space::Private => {
            // The two dwords of a lane are not neighbours.
            let low = cx.maps.at(a.private_at(lane, address), 4, true)?;
            let high = cx.maps.at(a.private_at(lane, address + 4), 4, true)?;
            // SAFETY: both are valid for four bytes and may be written; the memory is this wave's.
            unsafe {
                let old = u64::from(load32(low)) | u64::from(load32(high)) << 32;
                let new = op.apply64(old, data, second);
                store32(low, new as u32);
                store32(high, (new >> 32) as u32);
                Ok(old)
            }
        }
    }
}

/// An atomic on a quadword of LDS.
pub(super) fn lds64(cx: &mut Cx<'_>, address: u32, op: Op, data: u64, second: u64) -> u64 {
    let next = address.wrapping_add(4);
    let old = u64::from(read_lds(cx, address, 4)) | u64::from(read_lds(cx, next, 4)) << 32;
    let new = op.apply64(old, data, second);
    write_lds(cx, address, 4, new as u32);
    write_lds(cx, next, 4, (new >> 32) as u32);
    old
}
