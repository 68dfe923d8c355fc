//! Everything that is not a copy.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::engine::Packet;
use crate::contract::{BadAddress, Memory};
use crate::device::{Device, now_ns};
use crate::memory::View;
use crate::queue::Ring;
use crate::queue::backoff::Backoff;
use crate::queue::error::{Code, Stop};

/// The only atomic that is known: 64-bit add without return.
const ADD64: u32 = 47;

fn word32<'v>(view: &'v View<'_>, what: &str, address: u64, write: bool) -> Result<&'v AtomicU32, Stop> {
    let at = aligned(view, what, address, 4, write)?;
    // SAFETY: aligned, and mapped as long as the view, which the reference borrows, lives.
    Ok(unsafe { AtomicU32::from_ptr(at.cast()) })
}

fn word64<'v>(view: &'v View<'_>, what: &str, address: u64) -> Result<&'v AtomicU64, Stop> {
    let at = aligned(view, what, address, 8, true)?;
    // SAFETY: aligned, and mapped as long as the view, which the reference borrows, lives.
    Ok(unsafe { AtomicU64::from_ptr(at.cast()) })
}

fn aligned(view: &View<'_>, what: &str, address: u64, bytes: u64, write: bool) -> Result<*mut u8, Stop> {
    let bad = |bad| Stop::access(what, bad);
    if !address.is_multiple_of(bytes) {
        return Err(bad(BadAddress { address, bytes, write }));
    }
    view.host(address, bytes, write).map_err(bad)
}

/// Write: address, number of dwords − 1, the dwords.
pub(super) fn write(view: &View<'_>, packet: &mut Packet<'_>) -> Result<&'static str, Stop> {
    let address = packet.long()?;
    let count = u64::from(packet.word()? & 0xf_ffff) + 1;
    for i in 0..count {
        let value = packet.word()?;
        word32(view, "SDMA write", address + i * 4, true)?.store(value, Ordering::Release);
    }
    Ok("sdma_write")
}

/// Fence: address, dword.
pub(super) fn fence(view: &View<'_>, packet: &mut Packet<'_>) -> Result<&'static str, Stop> {
    let address = packet.long()?;
    let value = packet.word()?;
    word32(view, "SDMA fence", address, true)?.store(value, Ordering::Release);
    Ok("sdma_fence")
}

/// Trap: event number.
pub(super) fn trap(device: &Device, packet: &mut Packet<'_>) -> Result<&'static str, Stop> {
    let event = packet.word()? & 0x0fff_ffff;
    // An event that is gone has no waiters.
    let _ = device.events.set(event);
    Ok("sdma_trap")
}

/// Atomic: address, operand, comparand, interval of the loop.
pub(super) fn atomic(view: &View<'_>, header: u32, packet: &mut Packet<'_>) -> Result<&'static str, Stop> {
    let (address, operand, _comparand) = (packet.long()?, packet.long()?, packet.long()?);
    packet.word()?;
    let operation = header >> 25;
    if operation != ADD64 {
        return Err(Stop::new(Code::Packet, format!("SDMA atomic {operation} is not known")));
    }
    word64(view, "SDMA atomic", address)?.fetch_add(operand, Ordering::AcqRel);
    Ok("sdma_atomic")
}

/// Constant fill: address, value, bytes − 1. The element's size is in the header.
pub(super) fn fill(
    device: &Device,
    view: &View<'_>,
    header: u32,
    packet: &mut Packet<'_>,
) -> Result<&'static str, Stop> {
    let address = packet.long()?;
    let [value, count] = packet.words()?;
    let element = 1u64 << (header >> 30);
    let bytes = (u64::from(count & 0x3fff_ffff) + 1).next_multiple_of(element);
    if element > 4 {
        return Err(Stop::new(Code::Packet, "SDMA fill with elements of 8 bytes"));
    }
    let at = aligned(view, "SDMA fill", address, element, true)
        .and_then(|_| view.host(address, bytes, true).map_err(|bad| Stop::access("SDMA fill", bad)))?;
    super::copy::note(device, view, address, bytes);
    let pattern = value.to_le_bytes();
    for i in 0..bytes as usize {
        // SAFETY: `host` says that all bytes are mapped for stores while the view lives.
        unsafe { at.add(i).write(pattern[i % element as usize]) };
    }
    Ok("sdma_fill")
}

/// Timestamp: address.
pub(super) fn timestamp(view: &View<'_>, packet: &mut Packet<'_>) -> Result<&'static str, Stop> {
    let address = packet.long()?;
    word64(view, "SDMA timestamp", address)?.store(now_ns(), Ordering::Release);
    Ok("sdma_timestamp")
}

/// Poll: address, value, mask, interval. Without bit 31 it polls a register, which is how the host's write path is flushed:
/// there is nothing to flush here. `None` when the queue was destroyed while waiting.
pub(super) fn poll(
    device: &Device,
    ring: &Ring,
    header: u32,
    packet: &mut Packet<'_>,
) -> Result<Option<&'static str>, Stop> {
    let address = packet.long()?;
    let [value, mask, _interval] = packet.words()?;
    if header >> 31 == 0 {
        return Ok(Some("sdma_flush"));
    }
    let met = |now: u32| match header >> 28 & 7 {
        0 => Some(true),
        1 => Some(now < value),
        2 => Some(now <= value),
        3 => Some(now == value),
        4 => Some(now != value),
        5 => Some(now >= value),
        6 => Some(now > value),
        _ => None,
    };
    let mut backoff = Backoff::default();
    loop {
        let view = View::new(&device.memory, None);
        let now = word32(&view, "SDMA poll", address, false)?.load(Ordering::Acquire) & mask;
        match met(now) {
            None => return Err(Stop::new(Code::Packet, "SDMA poll with unknown condition 7")),
            Some(true) => return Ok(Some("sdma_poll")),
            Some(false) if ring.cancelled() => return Ok(None),
            Some(false) => backoff.wait(),
        }
    }
}
