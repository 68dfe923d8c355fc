//! What batch windows want of regions, and regions that linger for one.

use super::{Inventory, Live};
use crate::region::Treatment;
use crate::{Generation, Range, RegionKind};

/// What recorded work of a batch window may want of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseInBatch {
    /// Nothing.
    None,
    /// Its content is put back for each pass.
    Captured,
    /// No argument points into it, or its launch would have declined; but a pointer behind a pointer is not seen, and a launch
    /// that was recorded after the birth of this generation may have one.
    Unseen(Generation),
}

impl Inventory {
    /// As [`Inventory::captured`], for a batch window: while it records, the host goes on writing its own memory, so that
    /// memory is not put back; launches that reach it have windows of their own
    /// ([`own_window`](crate::Traits::own_window)).
    pub(crate) fn captured_in_batch(&self) -> impl Iterator<Item = &Live> {
        self.captured().filter(|live| is_in_batch(live))
    }

    /// Whether a batch window puts back the region with this base.
    pub(crate) fn is_in_batch(&self, base: u64) -> bool {
        self.use_in_batch(base) == UseInBatch::Captured
    }

    /// Whether a batch window puts back any of a range.
    pub(crate) fn touches_batch(&self, range: Range) -> bool {
        self.overlapping(range).into_iter().any(|base| self.is_in_batch(base))
    }

    /// What recorded work of a batch window may want of the region with this base.
    pub(crate) fn use_in_batch(&self, base: u64) -> UseInBatch {
        match self.regions.get(&base) {
            Some(live) => match live.treatment {
                // Recorded launches have their arguments in memory of our own.
                Treatment::Skipped => UseInBatch::None,
                Treatment::Captured if is_in_batch(live) => UseInBatch::Captured,
                Treatment::Captured | Treatment::Declines(_) => UseInBatch::Unseen(live.generation),
            },
            None => UseInBatch::None,
        }
    }

    /// As [`Inventory::retire`], of a region whose memory stays where it is until the open window is over. Its generation
    /// counts as live as long, for the window that has a snapshot of it, while its addresses may be another region's.
    pub(crate) fn linger(&mut self, base: u64) -> Option<Live> {
        let live = self.retire(base)?;
        let Range { base, bytes } = live.region.range;
        self.lingering.entry((base, bytes)).or_insert_with(|| live.clone());
        Some(live)
    }

    /// Whether a range touches memory that lingers.
    pub(crate) fn touches_lingering(&self, range: Range) -> bool {
        self.lingering.values().any(|live| live.region.range.overlaps(range))
    }

    /// The window is over: what lingered is gone. Returns it.
    pub(crate) fn end_lingering(&mut self) -> Vec<Live> {
        std::mem::take(&mut self.lingering).into_values().collect()
    }
}

fn is_in_batch(live: &Live) -> bool {
    !matches!(live.region.kind, RegionKind::Host { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::map::tests::device;

    #[test]
    fn what_lingers_is_live_for_its_window_only() {
        let mut inventory = Inventory::default();
        let (first, _) = inventory.born(device(0x1000, 0x100));
        assert!(inventory.linger(0x1000).is_some() && inventory.linger(0x1000).is_none());
        let (second, displaced) = inventory.born(device(0x1000, 0x100));
        assert!(displaced.is_empty(), "its addresses are free");
        assert!(inventory.linger(0x1000).is_some());
        let (third, _) = inventory.born(device(0x1080, 0x40));
        assert!(inventory.is_live(0x1000, first) && inventory.is_live(0x1080, third));
        assert!(!inventory.is_live(0x1000, second), "the window has no snapshot of what was born within it");
        assert!(inventory.touches_lingering(Range::new(0x10ff, 8)));
        assert!(!inventory.touches_lingering(Range::new(0x1100, 8)));
        assert_eq!(inventory.captured().count(), 1);
        let gone = inventory.end_lingering();
        assert_eq!(gone.iter().map(|live| live.generation).collect::<Vec<_>>(), [first]);
        assert!(!inventory.is_live(0x1000, first));
        assert!(!inventory.touches_lingering(Range::new(0x1000, 8)));
        // A free that failed.
        let retired = inventory.linger(0x1080).unwrap();
        assert!(inventory.reinstate(retired));
        assert!(inventory.end_lingering().is_empty() && inventory.is_live(0x1080, third));
    }
}
