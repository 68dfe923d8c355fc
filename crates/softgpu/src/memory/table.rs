//! The mapping table: a sorted list of what the GPU may touch, never changed once published.

use std::sync::Arc;

use super::backing::Backing;
use crate::contract::BadAddress;

/// One mapped range.
#[derive(Clone, Debug)]
pub struct Entry {
    /// First address.
    pub base: u64,
    /// First address after it.
    pub end: u64,
    /// Whether the GPU may store there.
    pub writable: bool,
    /// The pages, where they are ours; a registered range belongs to the program.
    #[expect(dead_code, reason = "held, not read: the pages live as long as a table that maps them")]
    pub(super) backing: Option<Arc<Backing>>,
}

/// Everything mapped at one time, sorted by address, without overlaps.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// Sorts the ranges and cuts overlaps (a registered range may share pages with another).
    pub(super) fn new(mut ranges: Vec<Entry>) -> Self {
        ranges.sort_by_key(|e| (e.base, std::cmp::Reverse(e.end)));
        let mut entries: Vec<Entry> = Vec::with_capacity(ranges.len());
        for mut next in ranges {
            if let Some(last) = entries.last() {
                next.base = next.base.max(last.end);
            }
            if next.base < next.end {
                entries.push(next);
            }
        }
        Self { entries }
    }

    /// The ranges, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The range that holds `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|e| e.base <= address);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        (address < entry.end).then_some(entry)
    }

    /// Whether all of the access is mapped; it may run from one range into the next where they touch.
    ///
    /// # Errors
    /// [`BadAddress`] when any byte is not mapped, or is read-only and `write` is asked.
    pub fn check(&self, address: u64, bytes: u64, write: bool) -> Result<(), BadAddress> {
        let bad = BadAddress { address, bytes, write };
        let end = address.checked_add(bytes).ok_or(bad)?;
        let mut at = self.entries.partition_point(|e| e.base <= address).checked_sub(1).ok_or(bad)?;
        let mut reached = address;
        loop {
            let entry = self.entries.get(at).ok_or(bad)?;
            if reached < entry.base || reached >= entry.end || (write && !entry.writable) {
                return Err(bad);
            }
            if end <= entry.end {
                return Ok(());
            }
            reached = entry.end;
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(base: u64, end: u64) -> Entry {
        Entry { base, end, writable: true, backing: None }
    }

    #[test]
    fn neighbours_join_and_gaps_fault() {
        let table = Table::new(vec![entry(0x3000, 0x4000), entry(0x1000, 0x2000), entry(0x2000, 0x3000)]);
        assert!(table.check(0x1ff8, 16, true).is_ok());
        assert!(table.check(0x1000, 0x3000, false).is_ok());
        assert!(table.check(0x1000, 0x3001, false).is_err());
        assert!(table.check(0xfff, 1, false).is_err());
        assert!(table.check(0x4000, 1, false).is_err());
        assert!(table.check(u64::MAX, 2, false).is_err());
        assert!(table.find(0x3fff).is_some_and(|e| e.base == 0x3000));
        assert!(table.find(0x4000).is_none());
    }

    #[test]
    fn read_only_ranges_refuse_stores() {
        let table = Table::new(vec![Entry { writable: false, ..entry(0x1000, 0x2000) }]);
        assert!(table.check(0x1000, 8, false).is_ok());
        assert!(table.check(0x1000, 8, true).is_err());
    }

    proptest! {
        /// Against a set of mapped bytes.
        #[test]
        fn agrees_with_a_byte_set(ranges in prop::collection::vec((0u64..64, 1u64..16), 0..12), at in 0u64..90, n in 1u64..20) {
            let table = Table::new(ranges.iter().map(|&(b, n)| entry(b, b + n)).collect());
            let mapped = |x: u64| ranges.iter().any(|&(b, n)| (b..b + n).contains(&x));
            prop_assert_eq!(table.check(at, n, true).is_ok(), (at..at + n).all(mapped));
            prop_assert_eq!(table.find(at).is_some(), mapped(at));
            for pair in table.entries().windows(2) {
                prop_assert!(pair[0].end <= pair[1].base);
            }
        }
    }
}
