//! Copy, compare, synchronise and hash: tables up, one launch, without waiting.

use super::slots::{PendingKind, Slot};
use super::{CudaAgent, locked};
use crate::kernels::{TILE_BYTES, Table};
use crate::tables::Function;
use kreplay_engine::{AgentError, Chunk, Move, Pair, Range, Ticket, Towards};
use std::ffi::c_void;

/// Up to this many moves go to the driver one by one: a launch with a table costs as much as two of them.
const FEW_MOVES: usize = 2;

/// Moves from this size on go to the driver, whose copy of large ranges is a little faster than ours.
const LARGE_MOVE: u64 = 4 << 20;

/// Results up to this size are zeroed by going up with the table; larger ones by a memset.
const SMALL_RESULT: u64 = 64 << 10;

/// A slot whose table is on the device, or on its way.
pub(super) struct Uploaded {
    pub(super) slot: Slot,
    /// What is behind the table for results: where it begins, and its bytes.
    pub(super) area: (u64, u64),
    /// Where in that are zeroes, likewise.
    pub(super) zeroes: (u64, u64),
}

impl CudaAgent {
    pub(super) fn copy_moves(&self, moves: &[Move]) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let mut table = Table::default();
        {
            let backings = locked(&self.0.backings);
            // Kernels reach whatever is mapped; the driver's copies only what it knows to be allocated.
            let by_kernel = self.uses_freed();
            let few = moves.len() <= FEW_MOVES;
            for one in moves.iter().filter(|one| one.bytes > 0) {
                let by_driver =
                    few || one.bytes >= LARGE_MOVE || backings.is_host(one.to) || backings.is_host(one.from);
                if by_driver && !by_kernel {
                    self.driver()
                        .copy(one.to, one.from, one.bytes, self.stream())
                        .map_err(|error| self.error(error))?;
                } else {
                    table.push(one.from, one.to, one.bytes, 0);
                }
            }
        }
        self.launch_copying(self.0.kernels.copy, &table)?;
        self.renew_digests(moves)
    }

    /// Launches a kernel that has no result, if there is anything to do.
    pub(super) fn launch_copying(&self, kernel: Function, table: &Table) -> Result<(), AgentError> {
        if table.tiles() == 0 {
            return Ok(());
        }
        let Uploaded { slot, .. } = self.upload(table, 0, 0)?;
        let launched = self.launch_over(kernel, table, slot.device, None);
        let marked = launched.and_then(|()| slot.mark(self.driver(), self.stream()).map_err(|error| self.error(error)));
        locked(&self.0.slots).release_later(slot);
        marked
    }

    pub(super) fn compare_pairs(
        &self,
        pairs: &[Pair],
        chunk: Chunk,
        towards: Option<Towards>,
    ) -> Result<Ticket, AgentError> {
        let _entered = self.enter()?;
        let mut table = Table::default();
        let mut maps = Vec::with_capacity(pairs.len());
        let mut words = 0;
        // Smaller chunks than a tile are told apart by comparing.
        let by_tile = chunk.bytes() >= TILE_BYTES;
        let digests: Vec<u64> = {
            let known = locked(&self.0.digests);
            pairs.iter().map(|pair| if by_tile { known.of(pair) } else { 0 }).collect()
        };
        let hashed = digests.iter().any(|digest| *digest != 0);
        for (pair, digest) in pairs.iter().zip(&digests) {
            let chunks = chunk.count(pair.bytes);
            maps.push((words, chunks));
            let (from, to) = match towards {
                Some(Towards::Memory) if !hashed => (pair.shadow, pair.memory),
                _ => (pair.memory, pair.shadow),
            };
            table.push_hashed(from, to, pair.bytes, words, *digest);
            // Maps begin at 64-bit words, so that they can be read as such.
            words += chunks.div_ceil(64) * 2;
        }
        let kernels = &self.0.kernels;
        let kernel = match towards {
            None if hashed => kernels.look,
            None => kernels.compare,
            Some(Towards::Shadow) if hashed => kernels.take,
            Some(Towards::Memory) if hashed => kernels.give,
            Some(_) => kernels.synchronise,
        };
        let ticket = self.observe(kernel, &table, chunk, words * 4, PendingKind::Maps(maps))?;
        if towards == Some(Towards::Shadow) {
            let without: Vec<Pair> =
                pairs.iter().zip(&digests).filter(|(_, digest)| **digest == 0).map(|(pair, _)| *pair).collect();
            // They were written as if there were none.
            self.end_digests(without.iter().map(|pair| Range::new(pair.shadow, pair.bytes)));
            if by_tile {
                self.begin_digests(&without)?;
            }
        }
        Ok(ticket)
    }

    pub(super) fn hash_ranges(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
        let _entered = self.enter()?;
        let mut table = Table::default();
        let mut chunks = 0;
        for range in ranges {
            table.push(range.base, 0, range.bytes, chunks);
            chunks += chunk.count(range.bytes);
        }
        self.observe(self.0.kernels.hash, &table, chunk, chunks * 8, PendingKind::Hashes(chunks))
    }

    /// Brings a table to the device, with `result` bytes behind it of which `least` or more in a row are zeroes. What a slot
    /// holds from its last use is not sent again.
    pub(super) fn upload(&self, table: &Table, result: u64, least: u64) -> Result<Uploaded, AgentError> {
        let driver = self.driver();
        let entries = table.bytes();
        let area = ((entries.len() as u64).next_multiple_of(256), result);
        let acquired = locked(&self.0.slots).acquire(driver, area.0 + result.max(8), entries);
        let mut slot = acquired.map_err(|error| self.error(error))?;
        let known = slot.table == entries;
        let zeroes = std::mem::take(&mut slot.zeroes);
        let inside = zeroes.0 >= area.0 && zeroes.0 + zeroes.1 <= area.0 + result;
        if known && (result == 0 || inside && zeroes.1 >= least) {
            let zeroes = if result == 0 { area } else { zeroes };
            return Ok(Uploaded { slot, area, zeroes });
        }
        let mut queued = Ok(());
        let mut clear = known;
        if !known {
            slot.write(0, entries);
            slot.table = entries.to_vec();
            clear = result > SMALL_RESULT;
            if !clear {
                slot.zero(entries.len() as u64, area.0 - entries.len() as u64 + result);
            }
            let up = if clear { entries.len() as u64 } else { area.0 + result };
            queued = driver.copy(slot.device, slot.pinned, up, self.stream());
        }
        if queued.is_ok() && clear {
            queued = driver.set_bytes(slot.device + area.0, 0, result, self.stream());
        }
        match queued {
            Ok(()) => Ok(Uploaded { slot, area, zeroes: area }),
            Err(error) => {
                slot.table.clear();
                locked(&self.0.slots).release_later(slot);
                Err(self.error(error))
            }
        }
    }

    /// One launch of one of our kernels over a table that lies at `device`.
    pub(super) fn launch_over(
        &self,
        kernel: Function,
        table: &Table,
        device: u64,
        result: Option<(u32, u64)>,
    ) -> Result<(), AgentError> {
        let (mut device, mut entries, mut tiles) = (device, table.entries().len() as u32, table.tiles());
        let (mut shift, mut out) = result.unwrap_or_default();
        let mut arguments: [*mut c_void; 5] = [
            (&raw mut device).cast(),
            (&raw mut entries).cast(),
            (&raw mut tiles).cast(),
            (&raw mut shift).cast(),
            (&raw mut out).cast(),
        ];
        self.launch_own(kernel, tiles, arguments.as_mut_ptr())
    }
}
