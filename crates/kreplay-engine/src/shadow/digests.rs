//! A hash of each chunk of a snapshot that lies in the host tier.
//!
//! Comparing memory with such a snapshot would read all of it across the link to the host. So its hashes are kept: memory is
//! hashed on the device, at memory speed, and only the chunks whose hashes differ cross the link. Two chunks of other
//! content are taken for the same where 64 bits are by chance.

use crate::lock::lock;
use crate::{Chunk, ChunkMap, Range};
use std::sync::{Arc, Mutex};

/// Shared by a snapshot and the window that works on it.
#[derive(Clone, Debug)]
pub(crate) struct Digests(Arc<Mutex<Vec<u64>>>);

impl Digests {
    /// Of a region of so many bytes; what the snapshot holds is not known.
    pub(crate) fn new(bytes: u64, chunk: Chunk) -> Self {
        Self(Arc::new(Mutex::new(vec![0; chunk.count(bytes) as usize])))
    }

    /// Which chunks from `first` on have other hashes than the snapshot's, marked in `map`.
    pub(crate) fn differing(&self, first: u64, hashes: &[u64], map: &mut ChunkMap) {
        let known = lock(&self.0);
        for (at, hash) in (first..).zip(hashes) {
            if known.get(at as usize) != Some(hash) {
                map.mark(at);
            }
        }
    }

    /// The snapshot has chunks of these hashes from `first` on.
    pub(crate) fn set(&self, first: u64, hashes: &[u64]) {
        let mut known = lock(&self.0);
        for (at, hash) in (first as usize..).zip(hashes) {
            if let Some(known) = known.get_mut(at) {
                *known = *hash;
            }
        }
    }
}

/// The whole chunks of a region that a range touches, cut at the region's end, and the first one's number.
pub(crate) fn whole_chunks(region: Range, range: Range, chunk: Chunk) -> (u64, Range) {
    let first = (range.base - region.base) / chunk.bytes();
    let end = (range.end() - region.base).next_multiple_of(chunk.bytes()).min(region.bytes);
    let start = first * chunk.bytes();
    (first, Range::new(region.base + start, end - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_with_other_hashes_are_marked() {
        let chunk = Chunk::new(256).unwrap();
        let digests = Digests::new(1000, chunk);
        digests.set(0, &[10, 11, 12, 13]);
        digests.set(1, &[21]);
        let mut map = ChunkMap::new(4);
        digests.differing(2, &[12, 99], &mut map);
        digests.differing(0, &[10, 11], &mut map);
        assert_eq!(map.runs().collect::<Vec<_>>(), [(1, 1), (3, 1)]);
    }

    #[test]
    fn ranges_are_widened_to_chunks() {
        let (chunk, region) = (Chunk::new(256).unwrap(), Range::new(0x1010, 1000));
        let widened = |base, bytes| whole_chunks(region, Range::new(base, bytes), chunk);
        assert_eq!(widened(0x1010, 1), (0, Range::new(0x1010, 256)));
        assert_eq!(widened(0x1010 + 255, 2), (0, Range::new(0x1010, 512)));
        assert_eq!(widened(0x1010 + 800, 200), (3, Range::new(0x1010 + 768, 232)));
    }
}
