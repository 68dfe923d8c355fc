//! Loads and stores of lanes, in whichever memory their addresses are.

use super::address::{Addresses, PRIVATE_STRIDE, Space};
use super::shape::{Half, Shape, place};
use crate::exec::memory::{load8, load16, load32, store8, store16, store32};
use crate::exec::step::{Cx, Stop};
use crate::exec::wave::{LANES, Lanes, Wave};
use crate::isa::Operand;

/// Reads up to four bytes of one lane.
fn read(cx: &mut Cx<'_>, a: &Addresses, lane: usize, address: u64, bytes: u64) -> Result<u32, Stop> {
    match a.space(address) {
        Space::Global => {
            let at = cx.maps.at(address, bytes, false)?;
            // SAFETY: `at` is valid for `bytes`.
            Ok(unsafe {
                match bytes {
                    1 => u32::from(load8(at)),
                    2 => u32::from(load16(at)),
                    _ => load32(at),
                }
            })
        }
        Space::Lds => Ok(read_lds(cx, address as u32, bytes)),
        Space::Private => {
            let mut value = 0;
            for n in 0..bytes {
                let at = cx.maps.at(a.private_at(lane, address + n), 1, false)?;
                // SAFETY: `at` is valid for a byte.
                value |= u32::from(unsafe { load8(at) }) << (8 * n);
            }
            Ok(value)
        }
    }
}

/// Writes up to four bytes of one lane.
fn write(cx: &mut Cx<'_>, a: &Addresses, lane: usize, address: u64, bytes: u64, value: u32) -> Result<(), Stop> {
    match a.space(address) {
        Space::Global => {
            let at = cx.maps.at(address, bytes, true)?;
            // SAFETY: `at` is valid for `bytes` and may be written.
            unsafe {
                match bytes {
                    1 => store8(at, value as u8),
                    2 => store16(at, value as u16),
                    _ => store32(at, value),
                }
            }
        }
        Space::Lds => write_lds(cx, address as u32, bytes, value),
        Space::Private => {
            for n in 0..bytes {
                let at = cx.maps.at(a.private_at(lane, address + n), 1, true)?;
                // SAFETY: `at` is valid for a byte and may be written.
                unsafe { store8(at, (value >> (8 * n)) as u8) };
            }
        }
    }
    Ok(())
}

/// Reads up to four bytes of LDS; zero beyond its end, as the hardware does.
#[inline]
pub(super) fn read_lds(cx: &Cx<'_>, address: u32, bytes: u64) -> u32 {
    let word = |n: u32| cx.lds.get(n as usize).copied().unwrap_or(0);
    let first = word(address >> 2);
    let shift = 8 * (address & 3);
    let value = if shift == 0 {
        first
    } else {
        ((u64::from(word((address >> 2).wrapping_add(1))) << 32 | u64::from(first)) >> shift) as u32
    };
    match bytes {
        1 => value & 0xff,
        2 => value & 0xffff,
        _ => value,
    }
}

/// Writes up to four bytes of LDS; nothing beyond its end, as the hardware does.
#[inline]
pub(super) fn write_lds(cx: &mut Cx<'_>, address: u32, bytes: u64, value: u32) {
    if bytes == 4 && address & 3 == 0 {
        if let Some(word) = cx.lds.get_mut(address as usize >> 2) {
            *word = value;
        }
        return;
    }
    for n in 0..bytes as u32 {
        let at = address.wrapping_add(n);
        if let Some(word) = cx.lds.get_mut(at as usize >> 2) {
            let shift = 8 * (at & 3);
            *word = *word & !(0xff << shift) | (value >> (8 * n) & 0xff) << shift;
        }
    }
}

/// Which lanes' addresses are global, and counts of what they touch.
fn count(cx: &mut Cx<'_>, a: &Addresses, bytes: u64, store: bool) {
    cx.lines.start();
    let (mut global, mut lds) = (0, 0);
    for lane in a.active() {
        let address = a.lanes[lane];
        match a.space(address) {
            Space::Global => {
                global += bytes;
                cx.lines.add(address, bytes);
            }
            Space::Lds => lds += bytes,
            Space::Private => {
                for n in 0..bytes.div_ceil(4) {
                    cx.lines.add(a.private_at(lane, address + 4 * n), 1);
                }
            }
        }
    }
    let sums = &mut cx.counts.sums;
    if store {
        sums.global_write_bytes += global;
        sums.lds_write_bytes += lds;
        sums.write_lines += cx.lines.count();
    } else {
        sums.global_read_bytes += global;
        sums.lds_read_bytes += lds;
        sums.read_lines += cx.lines.count();
    }
}

/// The same for lanes that lie one behind the other.
fn count_consecutive(cx: &mut Cx<'_>, first: u64, bytes: u64, store: bool) {
    let all = bytes * LANES as u64;
    let lines = ((first + all - 1) >> 6) - (first >> 6) + 1;
    let sums = &mut cx.counts.sums;
    if store {
        sums.global_write_bytes += all;
        sums.write_lines += lines;
    } else {
        sums.global_read_bytes += all;
        sums.read_lines += lines;
    }
}

/// Loads into `dst`.
pub(super) fn load(cx: &mut Cx<'_>, w: &mut Wave, a: &Addresses, shape: Shape, dst: Operand) -> Result<(), Stop> {
    if a.mask == 0 {
        return Ok(());
    }
    let bytes = shape.bytes();
    let mut out = [Lanes::ZERO; 4];
    let dwords = if let Shape::Dwords(count) = shape { count } else { 1 };
    if let (Shape::Dwords(_), Some(first)) = (shape, a.consecutive(bytes))
        && let Ok(from) = cx.maps.at(first, bytes * LANES as u64, false)
    {
        count_consecutive(cx, first, bytes, false);
        for lane in 0..LANES {
            for (k, out) in out[..dwords].iter_mut().enumerate() {
                // SAFETY: `from` is valid for `bytes` of each lane.
                out.0[lane] = unsafe { load32(from.add(lane * bytes as usize + 4 * k)) };
            }
        }
    } else if let (Shape::Dwords(_), Some(offset)) = (shape, a.common_private()) {
        count(cx, a, bytes, false);
        for (k, out) in out[..dwords].iter_mut().enumerate() {
            let from = cx.maps.at(a.private_at(0, offset + 4 * k as u64), PRIVATE_STRIDE, false)?;
            for lane in 0..LANES {
                // SAFETY: `from` is valid for a dword of each lane.
                out.0[lane] = unsafe { load32(from.add(4 * lane)) };
            }
        }
    } else {
        count(cx, a, bytes, false);
        let old = *w.v(dst, 0);
        for lane in a.active() {
            let address = a.lanes[lane];
            if let Shape::Small { .. } = shape {
                let raw = read(cx, a, lane, address, bytes)?;
                out[0].0[lane] = place(shape, raw, old.0[lane]);
            } else {
                for (k, out) in out[..dwords].iter_mut().enumerate() {
                    out.0[lane] = read(cx, a, lane, address.wrapping_add(4 * k as u64), 4)?;
                }
            }
        }
    }
    for (k, out) in out[..dwords].iter().enumerate() {
        w.put(dst, k, out, a.mask);
    }
    Ok(())
}

/// Stores from `data`.
pub(super) fn store(cx: &mut Cx<'_>, w: &Wave, a: &Addresses, shape: Shape, data: Operand) -> Result<(), Stop> {
    if a.mask == 0 {
        return Ok(());
    }
    let bytes = shape.bytes();
    let dwords = if let Shape::Dwords(count) = shape { count } else { 1 };
    if let (Shape::Dwords(_), Some(first)) = (shape, a.consecutive(bytes))
        && let Ok(to) = cx.maps.at(first, bytes * LANES as u64, true)
    {
        count_consecutive(cx, first, bytes, true);
        cx.maps.announce(first, bytes * LANES as u64);
        for k in 0..dwords {
            let from = w.v(data, k);
            for lane in 0..LANES {
                // SAFETY: `to` is valid for `bytes` of each lane and may be written.
                unsafe { store32(to.add(lane * bytes as usize + 4 * k), from.0[lane]) };
            }
        }
        return Ok(());
    }
    count(cx, a, bytes, true);
    if let (Shape::Dwords(_), Some(offset)) = (shape, a.common_private()) {
        for k in 0..dwords {
            let to = cx.maps.at(a.private_at(0, offset + 4 * k as u64), PRIVATE_STRIDE, true)?;
            let from = w.v(data, k);
            for lane in a.active() {
                // SAFETY: `to` is valid for a dword of each lane and may be written.
                unsafe { store32(to.add(4 * lane), from.0[lane]) };
            }
        }
        return Ok(());
    }
    for lane in a.active() {
        let address = a.lanes[lane];
        if a.space(address) == Space::Global {
            cx.maps.at(address, bytes, true)?;
            cx.maps.announce(address, bytes);
        }
        if let Shape::Small { half, .. } = shape {
            let value = w.v(data, 0).0[lane];
            write(cx, a, lane, address, bytes, if half == Half::High { value >> 16 } else { value })?;
        } else {
            for k in 0..dwords {
                write(cx, a, lane, address.wrapping_add(4 * k as u64), 4, w.v(data, k).0[lane])?;
            }
        }
    }
    Ok(())
}
