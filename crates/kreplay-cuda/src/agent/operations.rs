//! Copy, compare, synchronise and hash: tables up, one launch, without waiting.

use super::slots::{PendingKind, Slot};
use super::{CudaAgent, locked};
use crate::kernels::Table;
use crate::tables::Function;
use kreplay_engine::{AgentError, Chunk, Move, Pair, Range, Ticket, Towards};
use std::ffi::c_void;

/// Up to this many moves go to the driver one by one: a launch with a table costs as much as two of them.
const FEW_MOVES: usize = 2;

/// Moves from this size on go to the driver, whose copy of large ranges is a little faster than ours.
const LARGE_MOVE: u64 = 4 << 20;

/// Results up to this size are zeroed by going up with the table; larger ones by a memset.
const SMALL_RESULT: u64 = 64 << 10;

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
        if table.tiles() == 0 {
            return Ok(());
        }
        let (slot, _) = self.upload(&table, 0)?;
        let launched = self.launch_over(self.0.kernels.copy, &table, slot.device, None);
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
        for pair in pairs {
            let chunks = chunk.count(pair.bytes);
            maps.push((words, chunks));
            let (from, to) = match towards {
                Some(Towards::Memory) => (pair.shadow, pair.memory),
                Some(Towards::Shadow) | None => (pair.memory, pair.shadow),
            };
            table.push(from, to, pair.bytes, words);
            // Maps begin at 64-bit words, so that they can be read as such.
            words += chunks.div_ceil(64) * 2;
        }
        let kernel = if towards.is_some() { self.0.kernels.synchronise } else { self.0.kernels.compare };
        self.observe(kernel, &table, chunk, words * 4, PendingKind::Maps(maps))
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

    /// A slot with the table on the device and `result` zeroed bytes behind it; gives their offset too. What the slot
    /// holds from its last use is not sent again.
    pub(super) fn upload(&self, table: &Table, result: u64) -> Result<(Slot, u64), AgentError> {
        let driver = self.driver();
        let entries = table.bytes();
        let offset = (entries.len() as u64).next_multiple_of(256);
        let acquired = locked(&self.0.slots).acquire(driver, offset + result.max(8), entries);
        let mut slot = acquired.map_err(|error| self.error(error))?;
        let known = slot.table == entries;
        let zeroed = result == 0 || (slot.zeroes.0 == offset && slot.zeroes.1 >= result);
        slot.zeroes = (0, 0);
        let mut queued = Ok(());
        if !known {
            slot.write(0, entries);
            slot.table = entries.to_vec();
            let small = result <= SMALL_RESULT;
            if small {
                slot.zero(entries.len() as u64, offset - entries.len() as u64 + result);
            }
            let up = if small { offset + result } else { entries.len() as u64 };
            queued = driver.copy(slot.device, slot.pinned, up, self.stream());
            if queued.is_ok() && !small {
                queued = driver.set_bytes(slot.device + offset, 0, result, self.stream());
            }
        } else if !zeroed {
            queued = driver.set_bytes(slot.device + offset, 0, result, self.stream());
        }
        match queued {
            Ok(()) => Ok((slot, offset)),
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
