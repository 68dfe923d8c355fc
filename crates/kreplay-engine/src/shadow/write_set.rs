//! Which chunks of a footprint were written.

use super::Tracked;
use crate::{Chunk, ChunkMap, Range};
use std::sync::OnceLock;

/// A run of chunks of a region: its place in the footprint, the first chunk, how many.
type Run = (usize, (u64, u64));

/// One map a region of the footprint, in its order.
#[derive(Clone, Debug)]
pub(crate) struct WriteSet {
    chunk: Chunk,
    maps: Vec<ChunkMap>,
    /// The runs of all maps, once somebody asked and until something is added. A window asks for each of its passes, and
    /// looking through the maps of a large footprint takes longer than what is done with the runs.
    runs: OnceLock<Vec<Run>>,
}

impl WriteSet {
    /// Nothing written.
    pub(crate) fn empty(regions: &[Tracked], chunk: Chunk) -> Self {
        let maps = regions.iter().map(|tracked| ChunkMap::new(chunk.count(tracked.range.bytes))).collect();
        Self { chunk, maps, runs: OnceLock::new() }
    }

    /// Adds what an answer about the regions `index` found.
    pub(crate) fn add(&mut self, index: &[usize], maps: &[ChunkMap]) {
        self.runs.take();
        for (index, map) in index.iter().zip(maps) {
            self.maps[*index].unite(map);
        }
    }

    /// Adds a whole region.
    pub(crate) fn add_whole(&mut self, index: usize) {
        self.runs.take();
        let chunks = self.maps[index].chunks();
        self.maps[index].mark_run(0, chunks);
    }

    /// Adds the chunks that `range` touches of region `index`, which begins at `base`.
    pub(crate) fn add_range(&mut self, index: usize, base: u64, range: Range) {
        if range.bytes == 0 {
            return;
        }
        self.runs.take();
        let first = (range.base - base) / self.chunk.bytes();
        let last = (range.end() - 1 - base) / self.chunk.bytes();
        self.maps[index].mark_run(first, last - first + 1);
    }

    /// What an answer about the regions `index` found beyond this set.
    pub(crate) fn beyond(&self, index: &[usize], maps: &[ChunkMap]) -> Vec<ChunkMap> {
        index.iter().zip(maps).map(|(index, map)| map.without(&self.maps[*index])).collect()
    }

    /// The map of a region.
    pub(crate) fn map(&self, index: usize) -> &ChunkMap {
        &self.maps[index]
    }

    /// Runs of chunks as ranges, by region; the last one cut at the region's end.
    pub(crate) fn ranges<'a>(&'a self, regions: &'a [Tracked]) -> impl Iterator<Item = (usize, Range)> + 'a {
        let all = || self.maps.iter().enumerate().flat_map(|(index, map)| map.runs().map(move |run| (index, run)));
        let runs = self.runs.get_or_init(|| all().collect());
        runs.iter().map(move |(index, run)| (*index, chunk_range(regions[*index].range, *run, self.chunk)))
    }

    /// Bytes in whole chunks, cut at the regions' ends.
    pub(crate) fn bytes(&self, regions: &[Tracked]) -> u64 {
        self.ranges(regions).map(|(_, range)| range.bytes).sum()
    }
}

/// The range of a run of chunks of a region.
fn chunk_range(region: Range, (first, count): (u64, u64), chunk: Chunk) -> Range {
    let start = first * chunk.bytes();
    let end = (start + count * chunk.bytes()).min(region.bytes);
    Range::new(region.base + start, end - start)
}

/// Runs of marked chunks of a region.
pub(crate) fn marked_ranges(region: Range, map: &ChunkMap, chunk: Chunk) -> impl Iterator<Item = Range> + '_ {
    map.runs().map(move |run| chunk_range(region, run, chunk))
}

/// Bytes in the marked chunks of a region.
pub(crate) fn marked_bytes(region: Range, map: &ChunkMap, chunk: Chunk) -> u64 {
    marked_ranges(region, map, chunk).map(|range| range.bytes).sum()
}

/// The first run of marked chunks of a region.
pub(crate) fn first_marked(region: Range, map: &ChunkMap, chunk: Chunk) -> Option<Range> {
    marked_ranges(region, map, chunk).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generation, Tier};

    fn tracked(base: u64, bytes: u64) -> Tracked {
        Tracked {
            range: Range::new(base, bytes),
            generation: Generation(1),
            shadow: base + 0x10_0000,
            tier: Tier::Device,
            digests: None,
            seen: true,
            known: false,
            stale: Vec::new(),
            live: true,
        }
    }

    #[test]
    fn runs_become_ranges_cut_at_the_end() {
        let regions = [tracked(0x1001, 1000), tracked(0x8000, 64)];
        let chunk = Chunk::new(256).unwrap();
        let mut set = WriteSet::empty(&regions, chunk);
        let mut map = ChunkMap::new(4);
        for marked in [1, 3] {
            map.mark(marked);
        }
        set.add(&[0], &[map.clone()]);
        set.add_whole(1);
        let ranges: Vec<_> = set.ranges(&regions).collect();
        let expected = [(0, 0x1101, 256), (0, 0x1301, 232), (1, 0x8000, 64)];
        assert_eq!(ranges, expected.map(|(index, base, bytes)| (index, Range::new(base, bytes))));
        assert_eq!(set.bytes(&regions), 552);
        set.add_range(0, 0x1001, Range::new(0x1100, 2));
        assert_eq!(set.map(0).runs().collect::<Vec<_>>(), [(0, 2), (3, 1)]);
        let added: Vec<_> = set.ranges(&regions).map(|(_, range)| (range.base, range.bytes)).collect();
        assert_eq!(added, [(0x1001, 512), (0x1301, 232), (0x8000, 64)], "what was asked before is not told again");
        let mut first = ChunkMap::new(1);
        first.mark(0);
        let mut other = WriteSet::empty(&regions, chunk);
        assert_eq!(other.bytes(&regions), 0);
        other.add(&[1], &[first]);
        assert_eq!(other.bytes(&regions), 64);
        other.add_whole(0);
        assert_eq!(other.bytes(&regions), 1064);
        map.mark(2);
        let beyond = set.beyond(&[0], &[map]);
        assert_eq!(first_marked(regions[0].range, &beyond[0], chunk), Some(Range::new(0x1201, 256)));
        assert_eq!(marked_bytes(regions[0].range, &beyond[0], chunk), 256);
    }
}
