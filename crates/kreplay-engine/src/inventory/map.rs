//! The map itself.

use super::live::{Live, next_generation};
use crate::region::Treatment;
use crate::{Arguments, Decline, Generation, Range, Region};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(super) regions: BTreeMap<u64, Live>,
    /// Variables of each loaded code object, by base and generation.
    pub(super) codes: BTreeMap<u64, Vec<(u64, Generation)>>,
    /// Regions that make a dispatch decline when it can reach them.
    declining: usize,
    /// See [`Inventory::linger`]. By base and bytes: of several at one place the first was there when the window began.
    pub(super) lingering: BTreeMap<(u64, u64), Live>,
}

impl Inventory {
    /// A region is born. Returns its generation and what it displaced.
    pub(crate) fn born(&mut self, region: Region) -> (Generation, Vec<Live>) {
        let generation = next_generation();
        if region.range.bytes == 0 {
            return (generation, Vec::new());
        }
        let displaced = self.displace(region.range);
        let treatment = region.kind.treatment();
        self.insert(Live { generation, region, treatment });
        (generation, displaced)
    }

    /// The region with this base is about to be freed.
    pub(crate) fn retire(&mut self, base: u64) -> Option<Live> {
        let live = self.regions.remove(&base)?;
        self.declining -= usize::from(matches!(live.treatment, Treatment::Declines(_)));
        Some(live)
    }

    /// The free failed: the region is live after all. Whatever was born there since is newer and wins.
    pub(crate) fn reinstate(&mut self, live: Live) -> bool {
        let free = self.overlapping(live.region.range).is_empty();
        self.lingering.retain(|_, lingering| lingering.generation != live.generation);
        if free {
            self.insert(live);
        }
        free
    }

    /// Whether this generation is still live at this base.
    pub(crate) fn is_live(&self, base: u64, generation: Generation) -> bool {
        let lingering = || self.lingering.range((base, 0)..=(base, u64::MAX)).map(|(_, live)| live);
        self.regions.get(&base).into_iter().chain(lingering()).any(|live| live.generation == generation)
    }

    /// The regions that a replay must be able to put back, in order.
    pub(crate) fn captured(&self) -> impl Iterator<Item = &Live> {
        self.regions.values().filter(|live| live.treatment == Treatment::Captured)
    }

    /// The region that holds an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Live> {
        let (_, live) = self.regions.range(..=address).next_back()?;
        live.region.range.contains(address).then_some(live)
    }

    /// Bases of the regions that the argument bytes point into.
    pub(crate) fn reached(&self, bytes: &[u8]) -> BTreeSet<u64> {
        super::pointers(bytes).filter_map(|address| self.at(address)).map(|live| live.region.range.base).collect()
    }

    /// Why a dispatch with these arguments cannot be replayed, as far as memory is concerned. Nothing needs to be known
    /// of the arguments while no region would have to decline.
    pub(crate) fn verdict(&self, arguments: &Arguments) -> Option<Decline> {
        if self.declining == 0 {
            return None;
        }
        match arguments {
            Arguments::Known(bytes) => super::pointers(bytes).find_map(|address| match self.at(address)?.treatment {
                Treatment::Declines(reason) => Some(reason),
                _ => None,
            }),
            Arguments::Size(0) => None,
            Arguments::Size(_) | Arguments::Unknown => Some(Decline::UnknownArguments),
        }
    }

    fn insert(&mut self, live: Live) {
        self.declining += usize::from(matches!(live.treatment, Treatment::Declines(_)));
        self.regions.insert(live.region.range.base, live);
    }

    fn displace(&mut self, range: Range) -> Vec<Live> {
        self.overlapping(range).into_iter().filter_map(|base| self.retire(base)).collect()
    }

    /// Bases of the regions that overlap a range.
    pub(super) fn overlapping(&self, range: Range) -> Vec<u64> {
        let before = self.regions.range(..range.base).next_back();
        before
            .into_iter()
            .chain(self.regions.range(range.base..range.end().max(range.base)))
            .filter(|(_, live)| live.region.range.overlaps(range))
            .map(|(base, _)| *base)
            .collect()
    }
}

#[cfg(test)]
pub(in crate::inventory) mod tests {
    use super::*;
    use crate::{RegionKind, Writers};
    use proptest::prelude::*;

    fn region(base: u64, bytes: u64, kind: RegionKind) -> Region {
        Region { range: Range::new(base, bytes), kind, writers: Writers::Seen }
    }

    pub(in crate::inventory) fn device(base: u64, bytes: u64) -> Region {
        region(base, bytes, RegionKind::Device)
    }

    #[test]
    fn an_old_address_gets_a_new_generation() {
        let mut inventory = Inventory::default();
        let (first, _) = inventory.born(device(0x1000, 64));
        let retired = inventory.retire(0x1000).unwrap();
        let (second, _) = inventory.born(device(0x1000, 64));
        assert_ne!(first, second);
        assert!(inventory.is_live(0x1000, second) && !inventory.is_live(0x1000, first));
        assert!(!inventory.reinstate(retired), "a newer region is there");
        assert!(inventory.is_live(0x1000, second));
        assert!(inventory.retire(0x1008).is_none(), "only a base retires");
    }

    #[test]
    fn a_failed_free_puts_the_region_back() {
        let mut inventory = Inventory::default();
        let (generation, _) = inventory.born(device(0x1000, 64));
        let retired = inventory.retire(0x1000).unwrap();
        assert!(!inventory.is_live(0x1000, generation));
        assert!(inventory.reinstate(retired));
        assert!(inventory.is_live(0x1000, generation));
    }

    #[test]
    fn a_range_reported_anew_displaces_what_it_covers() {
        let mut inventory = Inventory::default();
        inventory.born(device(0x1000, 0x100));
        inventory.born(device(0x2000, 0x100));
        inventory.born(device(0x3000, 0x100));
        let (_, displaced) = inventory.born(device(0x1080, 0x1000));
        assert_eq!(displaced.iter().map(|live| live.region.range.base).collect::<Vec<_>>(), [0x1000, 0x2000]);
        assert_eq!(inventory.captured().count(), 2);
    }

    #[test]
    fn only_what_can_be_reached_declines() {
        let mut inventory = Inventory::default();
        inventory.born(device(0x10_0000, 0x1000));
        assert_eq!(inventory.verdict(&Arguments::Unknown), None, "nothing could have to decline");
        inventory.born(region(0x20_0000, 0x1000, RegionKind::Imported));
        inventory.born(region(0x30_0000, 0x1000, RegionKind::Managed { copyable: false }));
        inventory.born(region(0x40_0000, 0x1000, RegionKind::Managed { copyable: true }));
        let known = |addresses: &[u64]| {
            Arguments::Known(addresses.iter().flat_map(|address| address.to_le_bytes()).collect::<Vec<_>>().into())
        };
        assert_eq!(inventory.verdict(&known(&[0x10_0010, 5, 0x40_0000])), None);
        assert_eq!(inventory.verdict(&known(&[0x10_0010, 0x20_0fff])), Some(Decline::ImportedMemory));
        assert_eq!(inventory.verdict(&known(&[0x20_1000])), None, "one past the end is outside");
        assert_eq!(inventory.verdict(&known(&[0x30_0000])), Some(Decline::ManagedMemory));
        assert_eq!(inventory.verdict(&Arguments::Size(8)), Some(Decline::UnknownArguments));
        assert_eq!(inventory.verdict(&Arguments::Size(0)), None);
        inventory.retire(0x20_0000).unwrap();
        inventory.retire(0x30_0000).unwrap();
        assert_eq!(inventory.verdict(&Arguments::Unknown), None);
    }

    proptest! {
        #[test]
        fn regions_never_overlap_and_the_newest_wins(births in prop::collection::vec((0u64..4096, 0u64..256), 1..60)) {
            let mut inventory = Inventory::default();
            let mut newest: BTreeMap<u64, Generation> = BTreeMap::new();
            for (base, bytes) in births {
                let (generation, displaced) = inventory.born(device(base, bytes));
                for live in displaced {
                    for address in live.region.range.base..live.region.range.end() {
                        newest.remove(&address);
                    }
                }
                newest.extend((base..base + bytes).map(|address| (address, generation)));
                let regions: Vec<_> = inventory.captured().map(|live| live.region.range).collect();
                prop_assert!(regions.windows(2).all(|pair| pair[0].end() <= pair[1].base));
            }
            for address in 0..4400 {
                prop_assert_eq!(inventory.at(address).map(|live| live.generation), newest.get(&address).copied());
            }
        }
    }
}
