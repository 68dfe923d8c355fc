//! SMEM: scalar loads, stores and clocks.

use std::sync::LazyLock;
use std::time::Instant;

use super::source::src32;
use crate::exec::memory::{load32, store32};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::Wave;
use crate::isa::Inst;
use crate::isa::table::smem::*;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Cycles of the shader clock (1 GHz), or of instructions where runs must be repeatable.
fn clock(cx: &Cx<'_>) -> u64 {
    if cx.repeatable { cx.counts.classes.iter().sum::<u64>() * 4 } else { START.elapsed().as_nanos() as u64 }
}

/// Runs an SMEM instruction.
pub(in crate::exec) fn smem(cx: &mut Cx<'_>, w: &mut Wave, i: &Inst) -> Result<(), Stop> {
    match i.op {
        S_DCACHE_INV | S_DCACHE_WB | S_DCACHE_INV_VOL | S_DCACHE_WB_VOL => return Ok(()),
        S_MEMTIME => {
            w.set_s64(i.dst.0, clock(cx));
            return Ok(());
        }
        S_MEMREALTIME => {
            w.set_s64(i.dst.0, clock(cx) / 10);
            return Ok(());
        }
        _ => {}
    }
    let words = i.row.dst as u16;
    let offset = if i.src[2].is_none() { 0 } else { i64::from(src32(w, i, i.src[2])) } + i64::from(i.imm);
    let base = i.src[0].0;
    let (address, limit) = match i.op {
        S_LOAD_DWORD..=S_LOAD_DWORDX16 | S_STORE_DWORD..=S_STORE_DWORDX4 => {
            (w.s64(base).wrapping_add_signed(offset) & !3, u64::MAX)
        }
        S_BUFFER_LOAD_DWORD..=S_BUFFER_LOAD_DWORDX16 | S_BUFFER_STORE_DWORD..=S_BUFFER_STORE_DWORDX4 => {
            let start = w.s64(base) & 0xffff_ffff_ffff;
            let stride = w.s(base + 1) >> 16 & 0x3fff;
            let bytes = u64::from(w.s(base + 2)) * u64::from(stride.max(1));
            (start.wrapping_add_signed(offset) & !3, start.saturating_add(bytes))
        }
        _ => return Err(Stop::Unsupported("")),
    };
    if matches!(i.op, S_STORE_DWORD..=S_STORE_DWORDX4 | S_BUFFER_STORE_DWORD..=S_BUFFER_STORE_DWORDX4) {
        for n in 0..words {
            let at = address + 4 * u64::from(n);
            if at < limit {
                let to = cx.maps.at(at, 4, true)?;
                cx.maps.announce(at, 4);
                // SAFETY: `to` is valid for four bytes and may be written.
                unsafe { store32(to, w.s(i.dst.0 + n)) };
            }
        }
        return Ok(());
    }
    if address.saturating_add(4 * u64::from(words)) <= limit
        && let Ok(from) = cx.maps.at(address, 4 * u64::from(words), false)
    {
        for n in 0..words {
            // SAFETY: `from` is valid for all the words.
            w.set_s(i.dst.0 + n, unsafe { load32(from.add(4 * n as usize)) });
        }
        return Ok(());
    }
    for n in 0..words {
        let at = address + 4 * u64::from(n);
        let value = if at < limit { cx.maps.read_u32(at)? } else { 0 };
        w.set_s(i.dst.0 + n, value);
    }
    Ok(())
}
