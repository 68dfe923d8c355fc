//! Fetching packets and telling them apart.

use std::sync::atomic::Ordering;

use super::{copy, memory_ops};
use crate::contract::Memory as _;
use crate::device::{Device, now_ns};
use crate::memory::{Recorder, View};
use crate::queue::backoff::Backoff;
use crate::queue::error::{Code, Stop};
use crate::queue::{Ring, error};
use crate::topology::PAGE;

/// Processes packets until the queue is destroyed.
pub(in crate::queue) fn run(device: &Device, ring: &Ring) {
    let mut backoff = Backoff::default();
    while !ring.cancelled() {
        let (read, written) = (ring.read_index(), ring.doorbell.load(Ordering::Acquire));
        if !ring.active() || read >= written {
            backoff.wait();
            continue;
        }
        backoff.reset();
        let mut packet = Packet { ring, at: read, written };
        match process(device, ring, &mut packet) {
            Ok(true) => ring.set_read_index(packet.at),
            Ok(false) => return,
            Err(stop) => error::raise(device, ring, &stop),
        }
    }
}

/// A reader of dwords, from the packet's first.
pub(super) struct Packet<'a> {
    ring: &'a Ring,
    at: u64,
    written: u64,
}

impl Packet<'_> {
    /// The next dword.
    pub(super) fn word(&mut self) -> Result<u32, Stop> {
        if self.at + 4 > self.written {
            return Err(Stop::new(Code::Packet, "SDMA packet is longer than what was written to the ring"));
        }
        let address = self.ring.base + self.at % self.ring.bytes;
        self.at += 4;
        // SAFETY: inside the ring, which lives until this thread has ended; rings and dwords are aligned.
        Ok(unsafe { (address as *const u32).read_volatile() })
    }

    /// The next N dwords.
    pub(super) fn words<const N: usize>(&mut self) -> Result<[u32; N], Stop> {
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()?;
        }
        Ok(words)
    }

    /// The next two dwords as an address or value.
    pub(super) fn long(&mut self) -> Result<u64, Stop> {
        let [low, high] = self.words()?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }
}

/// Processes one packet. `false` when the queue was destroyed meanwhile.
fn process(device: &Device, ring: &Ring, packet: &mut Packet<'_>) -> Result<bool, Stop> {
    let start = now_ns();
    let header = packet.word()?;
    let recorder = device.oracle.has_file().then(Recorder::new);
    let view = View::new(&device.memory, recorder.as_ref());
    let kind = match (header as u8, (header >> 8) as u8) {
        (0, _) => {
            for _ in 0..header >> 16 & 0x3fff {
                packet.word()?;
            }
            return Ok(true);
        }
        (1, 0) => copy::linear(device, &view, header, packet)?,
        (1, 4) => copy::rect(device, &view, header, packet)?,
        (2, 0) => memory_ops::write(&view, packet)?,
        (5, _) => memory_ops::fence(&view, packet)?,
        (6, _) => memory_ops::trap(device, packet)?,
        (8, 0) => {
            // The dependency may be on a signal that is freed and mapped anew: each look takes a view of its own.
            drop(view);
            match memory_ops::poll(device, ring, header, packet)? {
                Some(kind) => kind,
                None => return Ok(false),
            }
        }
        (10, _) => memory_ops::atomic(&view, header, packet)?,
        (11, _) => memory_ops::fill(device, &view, header, packet)?,
        (13, 2) => memory_ops::timestamp(&view, packet)?,
        (op, sub) => {
            let at = packet.at - 4;
            return Err(Stop::new(
                Code::Packet,
                format!("SDMA packet {op}.{sub} ({header:#010x}) at offset {at} is not known"),
            ));
        }
    };
    if let Some(recorder) = recorder.filter(|recorder| !recorder.pages().is_empty()) {
        let view = View::new(&device.memory, None);
        // SAFETY: what was noted was mapped for the packet; if the program has unmapped it since, the view says so.
        let still = recorder.pages().iter().all(|page| view.host(*page, PAGE, false).is_ok());
        if still {
            // SAFETY: `view` holds every page.
            device.oracle.record_copy(ring.id, unsafe { recorder.write_set() });
        }
    }
    device.trace.packet(ring.id, kind, 0, now_ns() - start);
    Ok(true)
}
