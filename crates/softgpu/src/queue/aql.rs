//! The AQL packet processor.

use std::sync::atomic::Ordering;

use super::backoff::Backoff;
use super::dispatch::{self, Done};
use super::error::{Code, Stop};
use super::packet::{self, Barrier, BarrierValue, KernelDispatch, Pm4Ib};
use super::{Ring, error, signal};
use crate::contract::{BadAddress, Memory};
use crate::device::{Device, now_ns};
use crate::memory::View;
use crate::pmc::ib;

/// Processes packets until the queue is destroyed.
pub(super) fn run(device: &Device, ring: &Ring) {
    let mut doorbell = Doorbell { seen: u64::MAX, pending: false };
    let mut backoff = Backoff::default();
    while !ring.cancelled() {
        if !ring.active() || !doorbell.rung(ring) {
            backoff.wait();
            continue;
        }
        let index = ring.read_index();
        let address = ring.base + (index * packet::BYTES) % ring.bytes;
        // SAFETY: the address is that of a packet in the ring, which lives until this thread has ended.
        let header = unsafe { packet::load_header(address) };
        if packet::packet_type(header) == packet::TYPE_INVALID {
            doorbell.empty(index);
            backoff.wait();
            continue;
        }
        backoff.reset();
        match process(device, ring, address, header) {
            Ok(true) => {
                // SAFETY: as above; the packet's kernel has ended, so nothing reads it any more.
                unsafe { packet::invalidate(address) };
                ring.set_read_index(index + 1);
            }
            Ok(false) => return,
            Err(stop) => error::raise(device, ring, &stop),
        }
    }
}

/// Whether the program has told of packets. Several producers may ring in any order and overwrite each other's ring, so each
/// change starts a walk over all packets that are valid; while a packet before a rung index is missing, the walk goes on.
struct Doorbell {
    seen: u64,
    pending: bool,
}

impl Doorbell {
    fn rung(&mut self, ring: &Ring) -> bool {
        let now = ring.doorbell.load(Ordering::Acquire);
        if now != self.seen {
            self.seen = now;
            self.pending = true;
        }
        self.pending
    }

    /// The packet at `index` is not there: done, unless its index or a later one was rung.
    fn empty(&mut self, index: u64) {
        self.pending = self.seen != u64::MAX && self.seen >= index;
    }
}

/// Processes one packet. `false` when the queue was destroyed meanwhile.
fn process(device: &Device, ring: &Ring, address: u64, header: u16) -> Result<bool, Stop> {
    let start = now_ns();
    let (kind, kernel, done, completion) = match packet::packet_type(header) {
        packet::TYPE_DISPATCH => {
            let packet: KernelDispatch = read(address);
            let done = dispatch::run(device, ring, address, &packet)?;
            ("dispatch", packet.kernel_object, done, packet.completion_signal)
        }
        packet::TYPE_BARRIER_AND => {
            let packet: Barrier = read(address);
            let done = wait_all(device, ring, &packet)?;
            ("barrier_and", 0, done, packet.completion_signal)
        }
        packet::TYPE_BARRIER_OR => {
            let packet: Barrier = read(address);
            let done = wait_any(device, ring, &packet)?;
            ("barrier_or", 0, done, packet.completion_signal)
        }
        packet::TYPE_VENDOR => vendor(device, ring, address)?,
        packet::TYPE_AGENT_DISPATCH => {
            return Err(Stop::new(Code::Packet, "agent dispatch packet, which a GPU does not execute"));
        }
        other => return Err(Stop::new(Code::Packet, format_args!("packet of unknown type {other}"))),
    };
    let end = now_ns();
    match done {
        Done::Cancelled => return Ok(false),
        Done::Silent => {}
        Done::Complete => complete(device, completion, start, end)?,
    }
    if kind == "dispatch" {
        device.totals.completed.fetch_add(1, Ordering::Relaxed);
    }
    device.trace.packet(ring.id, kind, kernel, end - start);
    Ok(true)
}

fn complete(device: &Device, handle: u64, start: u64, end: u64) -> Result<(), Stop> {
    if handle == 0 {
        return Ok(());
    }
    let view = View::new(&device.memory, None);
    let bad = |bad| Stop::access("completion signal", bad);
    signal::resolve(&view, handle).and_then(|s| s.complete(device, &view, start, end)).map_err(bad)
}

/// AMD's own packets.
fn vendor(device: &Device, ring: &Ring, address: u64) -> Result<(&'static str, u64, Done, u64), Stop> {
    let packet: Pm4Ib = read(address);
    match packet.format {
        packet::VENDOR_PM4_IB => {
            let view = View::new(&device.memory, None);
            let vendor = |fault: &crate::contract::Fault| {
                let stop = Stop::fault(fault).unwrap_or_else(|| Stop::new(Code::VendorPacket, fault));
                let code = if stop.access.is_some() { stop.code } else { Code::VendorPacket as u64 };
                Stop { code, ..stop }
            };
            let (at, words) = ib::indirect_buffer(&read(address)).map_err(|f| vendor(&f))?;
            let words = load_words(&view, at, words).map_err(|bad| Stop::access("PM4 indirect buffer", bad))?;
            device.counters.execute_ib(&words, &view).map_err(|f| vendor(&f))?;
            Ok(("pm4", 0, Done::Complete, packet.completion_signal))
        }
        packet::VENDOR_BARRIER_VALUE => {
            let packet: BarrierValue = read(address);
            let done = wait_value(device, ring, &packet)?;
            Ok(("barrier_value", 0, done, packet.completion_signal))
        }
        other => Err(Stop::new(Code::VendorPacket, format_args!("vendor packet of unknown format {other}"))),
    }
}

fn load_words(memory: &dyn Memory, address: u64, count: u32) -> Result<Vec<u32>, BadAddress> {
    let bytes = u64::from(count) * 4;
    if !address.is_multiple_of(4) || count == 0 {
        return Err(BadAddress { address, bytes, write: false });
    }
    let at = memory.host(address, bytes, false)?.cast::<u32>();
    // SAFETY: `host` says that all words are mapped while `memory` is borrowed; the address is aligned.
    Ok((0..count as usize).map(|i| unsafe { at.add(i).read_volatile() }).collect())
}

fn wait_all(device: &Device, ring: &Ring, packet: &Barrier) -> Result<Done, Stop> {
    for handle in packet.signals.into_iter().filter(|&h| h != 0) {
        if let Done::Cancelled = wait(ring, || Ok(value(device, handle)? == 0))? {
            return Ok(Done::Cancelled);
        }
    }
    Ok(Done::Complete)
}

fn wait_any(device: &Device, ring: &Ring, packet: &Barrier) -> Result<Done, Stop> {
    let handles: Vec<u64> = packet.signals.into_iter().filter(|&h| h != 0).collect();
    wait(ring, || {
        for &handle in &handles {
            if value(device, handle)? == 0 {
                return Ok(true);
            }
        }
        Ok(handles.is_empty())
    })
}

fn wait_value(device: &Device, ring: &Ring, packet: &BarrierValue) -> Result<Done, Stop> {
    let BarrierValue { signal, value: wanted, mask, condition, .. } = *packet;
    if condition > 3 {
        return Err(Stop::new(Code::VendorPacket, format_args!("barrier with unknown condition {condition}")));
    }
    if signal == 0 {
        return Ok(Done::Complete);
    }
    wait(ring, || {
        let now = value(device, signal)? & mask;
        Ok(match condition {
            0 => now == wanted,
            1 => now != wanted,
            2 => now < wanted,
            _ => now >= wanted,
        })
    })
}

fn value(device: &Device, handle: u64) -> Result<i64, Stop> {
    let view = View::new(&device.memory, None);
    Ok(signal::resolve(&view, handle).map_err(|bad| Stop::access("signal of a barrier", bad))?.load())
}

fn wait(ring: &Ring, mut met: impl FnMut() -> Result<bool, Stop>) -> Result<Done, Stop> {
    let mut backoff = Backoff::default();
    while !met()? {
        if ring.cancelled() {
            return Ok(Done::Cancelled);
        }
        backoff.wait();
    }
    Ok(Done::Complete)
}

/// The packet at `address`, whose header has been seen valid, so that its writer is done with it.
fn read<T: Copy>(address: u64) -> T {
    const { assert!(size_of::<T>() == packet::BYTES as usize) };
    // SAFETY: a packet in the ring of a live queue, aligned to 64 bytes; every packet type is plain numbers.
    unsafe { (address as *const T).read_volatile() }
}
