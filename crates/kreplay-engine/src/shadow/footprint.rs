//! The regions of one window and where their snapshot lies.

use super::{Digests, WriteSet};
use crate::inventory::Inventory;
use crate::{Generation, Move, Pair, Range, Tier, Towards};

/// A region in a window.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub(crate) range: Range,
    pub(crate) generation: Generation,
    /// Where its snapshot lies.
    pub(crate) shadow: u64,
    pub(crate) tier: Tier,
    /// The hashes of its snapshot, where that lies in the host tier and is not copied whole each time.
    pub(crate) digests: Option<Digests>,
    /// Whether only the program's seen calls can write it.
    pub(crate) seen: bool,
    /// Whether the shadow was equal to memory when the last window closed.
    pub(crate) known: bool,
    /// What was written since by calls that were seen.
    pub(crate) stale: Vec<Range>,
    /// Whether it is still of this generation. What is not is neither read nor written any more.
    pub(crate) live: bool,
}

/// Some regions of a footprint, as pairs for the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selected {
    /// Places in the footprint.
    pub(crate) index: Vec<usize>,
    /// The same regions, in the same order.
    pub(crate) pairs: Vec<Pair>,
}

impl Selected {
    pub(crate) fn bytes(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.bytes).sum()
    }
}

/// The regions that a replay must be able to put back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    regions: Vec<Tracked>,
}

impl Footprint {
    pub(crate) fn new(regions: Vec<Tracked>) -> Self {
        Self { regions }
    }

    pub(crate) fn all(&self) -> &[Tracked] {
        &self.regions
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Tracked] {
        &mut self.regions
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.regions.iter().map(|tracked| tracked.range.bytes).sum()
    }

    /// Drops what died since. Returns whether anything did.
    pub(crate) fn refresh(&mut self, inventory: &Inventory) -> bool {
        let mut changed = false;
        for tracked in &mut self.regions {
            let live = tracked.live && inventory.is_live(tracked.range.base, tracked.generation);
            changed |= live != tracked.live;
            tracked.live = live;
        }
        changed
    }

    /// The live regions that `wanted` picks, as pairs.
    pub(crate) fn select(&self, wanted: impl Fn(&Tracked) -> bool) -> Selected {
        let mut selected = Selected::default();
        for (index, tracked) in self.regions.iter().enumerate().filter(|(_, tracked)| tracked.live && wanted(tracked)) {
            let pair = Pair { memory: tracked.range.base, shadow: tracked.shadow, bytes: tracked.range.bytes };
            selected.index.push(index);
            selected.pairs.push(pair);
        }
        selected
    }

    /// Copies of ranges of region `index` to its snapshot.
    fn out(&self, index: usize, range: Range) -> Move {
        let tracked = &self.regions[index];
        Move { to: tracked.shadow + (range.base - tracked.range.base), from: range.base, bytes: range.bytes }
    }

    /// Copies of ranges of region `index` from its snapshot.
    fn back(&self, index: usize, range: Range) -> Move {
        let Move { to, from, bytes } = self.out(index, range);
        Move { to: from, from: to, bytes }
    }

    /// The copy that makes a range of region `index` alike on both sides.
    pub(crate) fn one_way(&self, index: usize, range: Range, towards: Towards) -> Move {
        match towards {
            Towards::Shadow => self.out(index, range),
            Towards::Memory => self.back(index, range),
        }
    }

    /// The live part of a write set of this footprint, by region.
    pub(crate) fn ranges(&self, set: &WriteSet) -> Vec<(usize, Range)> {
        let live = |(index, _): &(usize, Range)| self.regions[*index].live;
        set.ranges(&self.regions).filter(live).collect()
    }

    /// Whether a range lies in a live region of it.
    pub(crate) fn holds(&self, range: Range) -> bool {
        let inside = |t: &Tracked| t.live && t.range.base <= range.base && range.end() <= t.range.end();
        self.regions.iter().any(inside)
    }

    /// Bytes of the moves by the tier of their snapshot: device, host.
    pub(crate) fn by_tier(&self, ranges: &[(usize, Range)]) -> (u64, u64) {
        let sum = |tier| ranges.iter().filter(|(i, _)| self.regions[*i].tier == tier).map(|(_, r)| r.bytes).sum();
        (sum(Tier::Device), sum(Tier::Host))
    }
}
