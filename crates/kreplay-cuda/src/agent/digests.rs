//! Hashes of snapshots on the device, tile by tile.
//!
//! To compare memory with a snapshot both are read. But a snapshot is written by the agent alone, so the hashes of its tiles can be
//! kept: then memory alone is read, which takes half the time. Tiles of other content are taken for the same where 64 bits are
//! by chance.
//!
//! A snapshot gets its hashes when it is first made like memory as a whole. What is copied into it later is hashed behind the copy.

use super::{CudaAgent, locked};
use crate::kernels::{TILE_BYTES, Table};
use kreplay_engine::{AgentError, Move, Pair, Range};
use std::collections::BTreeMap;

/// Snapshots from this size on have hashes: an allocation of its own for those of a smaller one is not worth it.
const LEAST: u64 = if cfg!(test) { TILE_BYTES } else { 1 << 20 };

/// By where the snapshot lies.
#[derive(Debug, Default)]
pub(super) struct Digests(BTreeMap<u64, Digest>);

#[derive(Clone, Copy, Debug)]
struct Digest {
    /// Of the snapshot.
    bytes: u64,
    /// Where the hashes lie.
    table: u64,
}

impl Digests {
    /// Where the hashes of a pair's shadow lie; 0 where there are none.
    pub(super) fn of(&self, pair: &Pair) -> u64 {
        self.0.get(&pair.shadow).filter(|digest| digest.bytes == pair.bytes).map_or(0, |digest| digest.table)
    }

    /// The snapshot's that a range touches, out of here. A snapshot lies in a backing of its own, so there is one at most.
    fn remove(&mut self, range: Range) -> Option<Digest> {
        let (base, digest) = self.0.range(..range.end()).next_back()?;
        let (base, touched) = (*base, Range::new(*base, digest.bytes).overlaps(range));
        touched.then(|| self.0.remove(&base)).flatten()
    }

    /// Whole tiles that a range touches of a snapshot that has hashes, and where those of the first one lie.
    fn touched(&self, range: Range) -> Option<(Range, u64)> {
        let (base, digest) = self.0.range(..range.end()).next_back()?;
        let (from, to) = (range.base.max(*base), range.end().min(base + digest.bytes));
        if from >= to {
            return None;
        }
        let first = (from - base) / TILE_BYTES;
        let end = (to - base).next_multiple_of(TILE_BYTES).min(digest.bytes);
        let start = first * TILE_BYTES;
        Some((Range::new(base + start, end - start), digest.table + first * 8))
    }
}

impl CudaAgent {
    /// These shadows, which have none, were made like memory as a whole, or that is queued: from now on they have hashes. What
    /// cannot be had is done without.
    pub(super) fn begin_digests(&self, pairs: &[Pair]) -> Result<(), AgentError> {
        let (mut table, mut begun) = (Table::default(), Vec::new());
        let wanted: Vec<&Pair> = {
            let backings = locked(&self.0.backings);
            let wanted = |pair: &&Pair| pair.bytes >= LEAST && backings.is_on_device(pair.shadow, pair.bytes);
            pairs.iter().filter(wanted).collect()
        };
        for pair in wanted {
            let hashes = pair.bytes.div_ceil(TILE_BYTES) * 8;
            let Ok(place) = self.driver().allocate(hashes as usize) else { break };
            table.push_hashed(pair.shadow, 0, pair.bytes, 0, place);
            begun.push((pair.shadow, Digest { bytes: pair.bytes, table: place }));
        }
        let hashed = self.hash_tiles(&table);
        if hashed.is_ok() {
            locked(&self.0.digests).0.extend(begun);
        } else {
            self.free_digests(begun.into_iter().map(|(_, digest)| digest));
        }
        hashed
    }

    /// Copies into snapshots were queued: their hashes follow.
    pub(super) fn renew_digests(&self, moves: &[Move]) -> Result<(), AgentError> {
        let mut table = Table::default();
        {
            let digests = locked(&self.0.digests);
            if digests.0.is_empty() {
                return Ok(());
            }
            for one in moves.iter().filter(|one| one.bytes > 0) {
                if let Some((tiles, place)) = digests.touched(Range::new(one.to, one.bytes)) {
                    table.push_hashed(tiles.base, 0, tiles.bytes, 0, place);
                }
            }
        }
        let renewed = self.hash_tiles(&table);
        if renewed.is_err() {
            // They are not those of the snapshots any more.
            let gone = std::mem::take(&mut *locked(&self.0.digests));
            self.free_digests(gone.0.into_values());
        }
        renewed
    }

    fn hash_tiles(&self, table: &Table) -> Result<(), AgentError> {
        self.launch_copying(self.0.kernels.digest, table)
    }

    /// What lies in these ranges goes, or is written without its hashes.
    pub(super) fn end_digests(&self, written: impl Iterator<Item = Range>) {
        let gone: Vec<Digest> = {
            let mut digests = locked(&self.0.digests);
            if digests.0.is_empty() {
                return;
            }
            written.filter_map(|range| digests.remove(range)).collect()
        };
        self.free_digests(gone);
    }

    fn free_digests(&self, gone: impl IntoIterator<Item = Digest>) {
        for digest in gone {
            // The driver waits for what still uses it.
            if let Err(error) = self.driver().free(digest.table) {
                self.error(error);
            }
        }
    }
}

#[cfg(test)]
mod tests;
