//! Tables of ranges for the device kernels: how work is cut into tasks (see `kernels/memory.hip`).

use kreplay_engine::{Chunk, Move, Pair, Range};

/// Chunks of a task of compare and hash: the bits of one answer word.
pub(super) const CHUNKS: u64 = 32;
/// Bytes of a task of copy.
pub(super) const PIECE: u64 = 64 << 10;

/// `Entry` of the kernels' source.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) first_task: u64,
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) bytes: u64,
}
const _: () = assert!(size_of::<Entry>() == 32);

/// A table and the number of its tasks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) entries: Vec<Entry>,
    pub(super) tasks: u64,
}

impl Table {
    fn push(&mut self, a: u64, b: u64, bytes: u64, tasks: u64) {
        if tasks != 0 {
            self.entries.push(Entry { first_task: self.tasks, a, b, bytes });
            self.tasks += tasks;
        }
    }

    /// The bytes of the table as the device reads it.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let words = self.entries.iter().flat_map(|entry| [entry.first_task, entry.a, entry.b, entry.bytes]);
        words.flat_map(u64::to_le_bytes).collect()
    }
}

/// For compare and synchronise. Empty pairs have no tasks.
pub(super) fn pairs(pairs: &[Pair], chunk: Chunk) -> Table {
    let mut table = Table::default();
    for pair in pairs {
        table.push(pair.memory, pair.shadow, pair.bytes, chunk.count(pair.bytes).div_ceil(CHUNKS));
    }
    table
}

/// For hash; the entry's `b` is the place of its first hash.
pub(super) fn ranges(ranges: &[Range], chunk: Chunk) -> Table {
    let mut table = Table::default();
    let mut place = 0;
    for range in ranges {
        let chunks = chunk.count(range.bytes);
        table.push(range.base, place, range.bytes, chunks.div_ceil(CHUNKS));
        place += chunks;
    }
    table
}

/// For copy.
pub(super) fn moves(moves: &[Move]) -> Table {
    let mut table = Table::default();
    for step in moves {
        table.push(step.to, step.from, step.bytes, step.bytes.div_ceil(PIECE));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_numbered_through() {
        let chunk = Chunk::DEFAULT;
        let pair = |bytes| Pair { memory: 0x1000, shadow: 0x2000, bytes };
        let table = pairs(&[pair(1), pair(0), pair(33 * 4096), pair(32 * 4096)], chunk);
        assert_eq!(table.entries.iter().map(|entry| entry.first_task).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(table.tasks, 4);
        assert_eq!(table.bytes().len(), 96);
    }

    #[test]
    fn hashes_follow_each_other() {
        let table = ranges(&[Range::new(0, 4097), Range::new(9, 0), Range::new(5, 1)], Chunk::DEFAULT);
        assert_eq!(table.entries.iter().map(|entry| entry.b).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(table.tasks, 2);
    }

    #[test]
    fn long_moves_are_cut() {
        let table = moves(&[Move { to: 1, from: 2, bytes: PIECE + 1 }, Move { to: 3, from: 4, bytes: PIECE }]);
        assert_eq!(table.entries.iter().map(|entry| entry.first_task).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(table.tasks, 3);
    }
}
