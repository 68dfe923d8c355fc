//! What is known of a pool's mappings.
//!
//! A pool gives out addresses of memory that backs it. Where what is unused lies in pieces too small for a request, the
//! driver may take unused memory away from its addresses and map it together at new ones. It says nothing of that; the
//! backing does not grow. So the addresses that are known to be mapped are kept: an allocation that lies among them takes
//! nothing away from others, and one that lies elsewhere is explained by new backing, or not at all.

use kreplay_engine::Range;
use std::collections::BTreeMap;

/// Memory of a device is mapped in pages of this size, or larger ones.
const PAGE: u64 = 2 << 20;

/// Addresses of one pool.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    /// Runs of pages that are mapped: beginning and end.
    runs: BTreeMap<u64, u64>,
    /// Backing that came at once: beginning and end. It goes only as a whole.
    grown: Vec<(u64, u64)>,
    /// What the program has allocated: base and bytes.
    allocated: BTreeMap<u64, u64>,
}

impl Mapped {
    /// The program got this range, and the backing grew by `growth` bytes. Returns whether that explains where the range
    /// lies; `false`: memory that was mapped elsewhere may be here now.
    pub(super) fn allocated(&mut self, range: Range, growth: u64) -> bool {
        let unknown = self.unknown(range);
        // A request of a page or less is never in want of pages beside each other.
        let explained = range.bytes <= PAGE || unknown <= growth;
        if !explained {
            // Where it came from is not known.
            self.grown.clear();
            self.forget_unused();
        }
        if unknown > 0 && growth > 0 {
            let grown = (range.base, range.base.saturating_add(growth));
            self.grown.push(grown);
            self.add(grown);
        }
        self.allocated.insert(range.base, range.bytes);
        self.add((range.base, range.end()));
        explained
    }

    /// The program frees what begins here. Returns its bytes.
    pub(super) fn freed(&mut self, base: u64) -> Option<u64> {
        self.allocated.remove(&base)
    }

    /// A free failed.
    pub(super) fn kept(&mut self, base: u64, bytes: u64) {
        self.allocated.insert(base, bytes);
    }

    /// Backing that nothing is allocated in may have gone.
    pub(super) fn forget_unused(&mut self) {
        let allocated = &self.allocated;
        let used = |begin: u64, end: u64| {
            let before = allocated.range(..end).next_back();
            before.is_some_and(|(base, bytes)| base.saturating_add(*bytes) > begin)
        };
        self.grown.retain(|(begin, end)| used(*begin, *end));
        self.runs.clear();
        let known: Vec<(u64, u64)> = self
            .grown
            .iter()
            .copied()
            .chain(self.allocated.iter().map(|(base, bytes)| (*base, base.saturating_add(*bytes))))
            .collect();
        known.into_iter().for_each(|run| self.add(run));
    }

    /// Adds the pages that a range touches.
    fn add(&mut self, (begin, end): (u64, u64)) {
        let mut begin = begin / PAGE * PAGE;
        let mut end = end.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        while let Some((&other, &other_end)) = self.runs.range(..=end).next_back().filter(|(_, last)| **last >= begin) {
            self.runs.remove(&other);
            (begin, end) = (begin.min(other), end.max(other_end));
        }
        self.runs.insert(begin, end);
    }

    /// Bytes of a range that are not known to be mapped.
    fn unknown(&self, range: Range) -> u64 {
        let before = self.runs.range(..=range.base).next_back();
        let known: u64 = before
            .into_iter()
            .chain(self.runs.range(range.base.saturating_add(1)..range.end().max(range.base.saturating_add(1))))
            .map(|(begin, end)| (*end).min(range.end()).saturating_sub((*begin).max(range.base)))
            .sum();
        range.bytes.saturating_sub(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const BASE: u64 = 0x3_0200_0000;

    fn at(from: u64, bytes: u64) -> Range {
        Range::new(BASE + from * MIB, bytes * MIB)
    }

    #[test]
    fn what_lies_in_known_backing_is_explained_and_what_moved_is_not() {
        let mut mapped = Mapped::default();
        assert!(mapped.allocated(at(0, 8), 32 * MIB), "new backing");
        assert!(mapped.allocated(at(8, 8), 0), "the rest of it");
        assert!(mapped.allocated(at(32, 100), 128 * MIB));
        assert_eq!(mapped.freed(at(0, 8).base), Some(8 * MIB));
        assert!(mapped.allocated(at(0, 4), 0), "again");
        assert!(mapped.allocated(at(132, 20), 0));
        // Across the end of what is known, as far as the backing grew.
        assert!(mapped.allocated(at(156, 36), 32 * MIB));
        assert!(!mapped.allocated(at(1000, 3), 0), "nothing grew, and nobody knew of this place");
        assert!(!mapped.allocated(at(2000, 40), 32 * MIB), "grown by less than is new");
        assert!(mapped.allocated(at(3000, 2), 0), "too small to be of several pages");
    }

    #[test]
    fn unused_backing_is_forgotten_as_a_whole() {
        let mut mapped = Mapped::default();
        assert!(mapped.allocated(at(0, 4), 32 * MIB));
        assert!(mapped.allocated(at(32, 4), 32 * MIB));
        mapped.freed(at(32, 4).base);
        mapped.forget_unused();
        assert!(mapped.allocated(at(16, 8), 0), "something is allocated beside it");
        assert!(!mapped.allocated(at(40, 8), 0), "that may have gone, and its addresses be others'");
        mapped.kept(at(32, 4).base, 4 * MIB);
        assert!(mapped.allocated(at(40, 8), 0), "it is known now");
    }

    #[test]
    fn after_something_moved_only_allocations_are_known() {
        let mut mapped = Mapped::default();
        assert!(mapped.allocated(at(0, 4), 32 * MIB));
        assert!(!mapped.allocated(at(100, 8), 0));
        assert!(!mapped.allocated(at(16, 8), 0), "its pages may be the ones that moved");
        assert!(mapped.allocated(at(100, 8), 0));
    }
}
