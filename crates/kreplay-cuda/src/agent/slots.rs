//! Buffers for tables that go to the device and results that come back. They are kept and used again.

use super::results::Results;
use crate::tables::{CudaError, Driver, Event, Progress, Stream};
use std::collections::HashMap;

/// A device buffer, its pinned twin, and the event after its last use.
#[derive(Debug)]
pub(super) struct Slot {
    /// Device address.
    pub(super) device: u64,
    /// Pinned host address.
    pub(super) pinned: u64,
    /// Bytes of each.
    pub(super) bytes: u64,
    /// Recorded after the last work on it.
    pub(super) event: Event,
    /// The table that lies on the device, at the beginning.
    pub(super) table: Vec<u8>,
    /// Zeroes that lie on the device: where they begin, and how many.
    pub(super) zeroes: (u64, u64),
}

/// What a ticket waits for.
#[derive(Debug)]
pub(super) struct Pending {
    /// Which results.
    pub(super) results: u64,
    /// Which launch's among them, from 0.
    pub(super) place: u64,
    pub(super) kind: PendingKind,
}

/// How the results are read.
#[derive(Debug)]
pub(super) enum PendingKind {
    /// Maps: first 32-bit word and chunks of each pair.
    Maps(Vec<(u64, u64)>),
    /// That many hashes.
    Hashes(u64),
}

/// All buffers of an agent.
#[derive(Debug, Default)]
pub(super) struct Slots {
    free: Vec<Slot>,
    /// Used by work that has no ticket.
    busy: Vec<Slot>,
    pub(super) tickets: HashMap<u64, Pending>,
    /// Results on their way, by number.
    pub(super) results: HashMap<u64, Results>,
    /// Those that further launches may join.
    pub(super) open: Option<u64>,
    next_number: u64,
    /// Slots so far.
    made: usize,
}

const LEAST_BYTES: u64 = 256 << 10;

/// So many slots keep what they hold: a window compares both ways, hashes and copies, and the next one is often alike.
const ENOUGH: usize = 8;

impl Slots {
    /// A slot of at least `bytes`: one that holds `table` already; else, once there are enough for the tables of a window,
    /// the smallest free one, of those the one whose last use is longest ago; else a new one.
    pub(super) fn acquire(&mut self, driver: &Driver, bytes: u64, table: &[u8]) -> Result<Slot, CudaError> {
        let mut at = 0;
        while at < self.busy.len() {
            match driver.event_progress(self.busy[at].event)? {
                Progress::Done => self.free.push(self.busy.swap_remove(at)),
                Progress::Running => at += 1,
            }
        }
        let same = self.free.iter().position(|slot| slot.bytes >= bytes && slot.table == table);
        if let Some(same) = same {
            return Ok(self.free.remove(same));
        }
        // The first of equals: they stand in the order in which they came free.
        let best =
            (0..self.free.len()).filter(|at| self.free[*at].bytes >= bytes).min_by_key(|at| self.free[*at].bytes);
        let enough = bytes > LEAST_BYTES || self.made >= ENOUGH;
        if let Some(best) = best.filter(|_| enough) {
            return Ok(self.free.remove(best));
        }
        let bytes = bytes.next_power_of_two().max(LEAST_BYTES);
        let event = driver.create_event(false)?;
        let device = driver.allocate(bytes as usize).inspect_err(|_| drop(driver.destroy_event(event)))?;
        let pinned = driver.allocate_host(bytes as usize).inspect_err(|_| {
            drop(driver.free(device));
            drop(driver.destroy_event(event));
        })?;
        self.made += 1;
        Ok(Slot { device, pinned, bytes, event, table: Vec::new(), zeroes: (0, 0) })
    }

    /// A slot whose work was queued and that nobody waits for.
    pub(super) fn release_later(&mut self, slot: Slot) {
        self.busy.push(slot);
    }

    /// A slot whose work has ended.
    pub(super) fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// A number for results that are on their way.
    pub(super) fn ticket(&mut self, pending: Pending) -> u64 {
        let number = self.number();
        self.tickets.insert(number, pending);
        number
    }

    /// A number that nothing else has.
    pub(super) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Everything asked for is done: tickets that nobody asked about are dropped.
    pub(super) fn settled(&mut self) {
        self.free.append(&mut self.busy);
        self.tickets.clear();
        self.open = None;
        self.free.extend(self.results.drain().map(|(_, results)| results.slot));
    }
}

impl Slot {
    /// Records the event behind the work queued so far.
    pub(super) fn mark(&self, driver: &Driver, stream: Stream) -> Result<(), CudaError> {
        driver.record_event(self.event, stream)
    }

    /// Writes to the pinned buffer.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.bytes, "a table larger than its slot");
        // SAFETY: the pinned buffer has `self.bytes` bytes and belongs to this slot alone; no device work reads it.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.pinned + offset) as *mut u8, bytes.len());
        }
    }

    /// Zeroes a part of the pinned buffer.
    pub(super) fn zero(&mut self, offset: u64, bytes: u64) {
        assert!(offset + bytes <= self.bytes, "a result larger than its slot");
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes((self.pinned + offset) as *mut u8, 0, bytes as usize) };
    }

    /// Reads 64-bit words of the pinned buffer, after its event.
    pub(super) fn words(&self, offset: u64, count: u64) -> Vec<u64> {
        assert!(offset.is_multiple_of(8) && offset + count * 8 <= self.bytes, "a result outside its slot");
        // SAFETY: inside the pinned buffer, aligned (it begins at a page), and the device has finished writing it.
        unsafe { std::slice::from_raw_parts((self.pinned + offset) as *const u64, count as usize) }.to_vec()
    }
}

impl Slots {
    /// Frees every buffer; all work has ended or its context is about to go.
    pub(super) fn close(&mut self, driver: &Driver) {
        self.settled();
        for slot in self.free.drain(..) {
            // A context that is going frees what cannot be freed here.
            let _ = driver.free(slot.device);
            let _ = driver.free_host(slot.pinned);
            let _ = driver.destroy_event(slot.event);
        }
    }
}
