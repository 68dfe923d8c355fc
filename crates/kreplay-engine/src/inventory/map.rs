//! The map itself.

use crate::region::Treatment;
use crate::{Arguments, Decline, Generation, ModuleVariable, Range, Region, RegionKind, Writers};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Generations are counted over all agents, so that one never stands for two regions.
static NEXT_GENERATION: AtomicU64 = AtomicU64::new(1);

fn next_generation() -> Generation {
    Generation(NEXT_GENERATION.fetch_add(1, Ordering::Relaxed))
}

/// Every region that has been born so far has a smaller generation.
pub(crate) fn generations_so_far() -> Generation {
    Generation(NEXT_GENERATION.load(Ordering::Relaxed))
}

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

/// A region in the inventory.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) generation: Generation,
    pub(crate) region: Region,
    pub(crate) treatment: Treatment,
}

/// A region that was retired before its free; hand it to [`crate::Engine::region_reinstate`] when the free fails.
#[derive(Clone, Debug)]
#[must_use = "reinstate it if the free fails"]
pub struct Retired(pub(crate) Live);

impl Retired {
    /// The region.
    pub fn region(&self) -> &Region {
        &self.0.region
    }

    /// Its generation, which it keeps when it is reinstated.
    pub fn generation(&self) -> Generation {
        self.0.generation
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    regions: BTreeMap<u64, Live>,
    /// Variables of each loaded code object, by base and generation.
    codes: BTreeMap<u64, Vec<(u64, Generation)>>,
    /// Regions that make a dispatch decline when it can reach them.
    declining: usize,
    /// See [`Inventory::linger`]. By base and bytes: of several at one place the first was there when the window began.
    lingering: BTreeMap<(u64, u64), Live>,
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

    /// The free failed: the region is live after all. Whatever was born there since is newer and wins.
    pub(crate) fn reinstate(&mut self, live: Live) -> bool {
        let free = self.overlapping(live.region.range).is_empty();
        self.lingering.retain(|_, lingering| lingering.generation != live.generation);
        if free {
            self.insert(live);
        }
        free
    }

    /// A code object's variables are live. Those inside a region that is captured anyway, and constants that nobody can
    /// have changed, need no region of their own.
    pub(crate) fn code_loaded(&mut self, code: u64, variables: Vec<ModuleVariable>) -> Vec<Live> {
        let mut gone = self.code_unloaded(code);
        let mut own = Vec::new();
        for variable in variables.into_iter().filter(|variable| !variable.constant) {
            let covered = self.overlapping(variable.range).into_iter().any(|base| {
                let live = &self.regions[&base];
                live.treatment == Treatment::Captured
                    && live.region.range.base <= variable.range.base
                    && live.region.range.end() >= variable.range.end()
            });
            if covered {
                continue;
            }
            let (kind, writers) = match variable.managed {
                true => (RegionKind::Managed { copyable: false }, Writers::Others),
                false => (RegionKind::Variable { name: variable.name }, Writers::Seen),
            };
            let (generation, displaced) = self.born(Region { range: variable.range, kind, writers });
            own.push((variable.range.base, generation));
            gone.extend(displaced);
        }
        self.codes.insert(code, own);
        gone
    }

    /// A code object is unloaded: its variables are gone. Returns them.
    pub(crate) fn code_unloaded(&mut self, code: u64) -> Vec<Live> {
        let own = self.codes.remove(&code).unwrap_or_default();
        own.into_iter()
            .filter(|(base, generation)| self.regions.get(base).is_some_and(|live| live.generation == *generation))
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|(base, _)| self.retire(base))
            .collect()
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

    fn overlapping(&self, range: Range) -> Vec<u64> {
        let before = self.regions.range(..range.base).next_back();
        before
            .into_iter()
            .chain(self.regions.range(range.base..range.end().max(range.base)))
            .filter(|(_, live)| live.region.range.overlaps(range))
            .map(|(base, _)| *base)
            .collect()
    }
}

fn is_in_batch(live: &Live) -> bool {
    !matches!(live.region.kind, RegionKind::Host { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn region(base: u64, bytes: u64, kind: RegionKind) -> Region {
        Region { range: Range::new(base, bytes), kind, writers: Writers::Seen }
    }

    fn device(base: u64, bytes: u64) -> Region {
        region(base, bytes, RegionKind::Device)
    }

    fn variable(name: &str, base: u64, constant: bool) -> ModuleVariable {
        ModuleVariable { name: name.into(), range: Range::new(base, 8), constant, managed: false }
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
    fn variables_live_and_die_with_their_code() {
        let mut inventory = Inventory::default();
        inventory.born(device(0x9000, 0x100));
        let variables = vec![
            variable("count", 0x1000, false),
            variable("table", 0x1010, true),
            variable("__hip_cuid_1f", 0x1020, false),
            variable("inside", 0x9010, false),
            ModuleVariable { managed: true, ..variable("shared", 0x1030, false) },
        ];
        inventory.code_loaded(7, variables);
        let bases = |inventory: &Inventory| inventory.captured().map(|live| live.region.range.base).collect::<Vec<_>>();
        assert_eq!(bases(&inventory), [0x1000, 0x9000], "no constant, no marker, nothing twice, nothing of the host's");
        let shared = Arguments::Known(0x1030u64.to_le_bytes().to_vec().into());
        assert_eq!(inventory.verdict(&shared), Some(Decline::ManagedMemory));
        inventory.born(device(0x1000, 0x10));
        inventory.code_unloaded(7);
        assert_eq!(bases(&inventory), [0x1000, 0x9000], "a newer region at a variable's address stays");
        inventory.code_unloaded(8);
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
