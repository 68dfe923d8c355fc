//! Which regions a window looks at (`--reach args`).
//!
//! A kernel is believed to write only what its argument bytes point into, and variables, which it can name without an
//! argument. That is audited: the first window of each kernel and argument shape looks at everything, then one in so many.
//! One audit that finds a write elsewhere ends the belief for that kernel.

use crate::inventory::{Inventory, Live};
use crate::{Arguments, DispatchInfo, Reach, RegionKind};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Of the windows of a kernel, one in so many looks at everything.
const AUDIT_EVERY: u64 = 16;

/// What a window looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    /// Every captured region.
    All,
    /// Every captured region, and a write outside these bases is news.
    Audit(BTreeSet<u64>),
    /// Only these.
    Only(BTreeSet<u64>),
}

#[derive(Debug, Default)]
struct Kernel {
    shapes: BTreeSet<u64>,
    windows: u64,
    off: bool,
}

/// See the module. Kernels by key.
#[derive(Debug, Default)]
pub(crate) struct ReachTable(BTreeMap<u64, Kernel>);

impl ReachTable {
    /// What the window of this dispatch looks at.
    pub(crate) fn choose(&mut self, reach: Reach, info: &DispatchInfo, inventory: &Inventory) -> Looked {
        let (Reach::Arguments, Arguments::Known(bytes)) = (reach, &info.arguments) else { return Looked::All };
        let kernel = self.0.entry(info.kernel.key).or_default();
        if kernel.off {
            return Looked::All;
        }
        let mut bases = inventory.reached(bytes);
        let shape = shape(bytes, inventory);
        bases.extend(inventory.captured().filter(|live| is_variable(live)).map(|live| live.region.range.base));
        kernel.windows += 1;
        let first = kernel.shapes.insert(shape);
        if first || kernel.windows.is_multiple_of(AUDIT_EVERY) { Looked::Audit(bases) } else { Looked::Only(bases) }
    }

    /// An audit found a write elsewhere. Returns whether that is news.
    pub(crate) fn turn_off(&mut self, key: u64) -> bool {
        !std::mem::replace(&mut self.0.entry(key).or_default().off, true)
    }
}

fn is_variable(live: &Live) -> bool {
    matches!(live.region.kind, RegionKind::Variable { .. })
}

/// Stands for the size of the arguments and the places of the pointers among them.
fn shape(bytes: &[u8], inventory: &Inventory) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.len().hash(&mut hasher);
    for (place, address) in crate::inventory::pointers(bytes).enumerate() {
        if inventory.at(address).is_some() {
            place.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Geometry, KernelInfo, Range, Region, Traits, Writers};

    fn dispatch(words: &[u64]) -> DispatchInfo {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        DispatchInfo {
            kernel: KernelInfo { key: 1, name: "k".into() },
            geometry: Geometry::default(),
            stream: 0,
            arguments: Arguments::Known(bytes.into()),
            traits: Traits::default(),
        }
    }

    #[test]
    fn each_shape_is_audited_once_then_at_a_rate() {
        let mut inventory = Inventory::default();
        for base in [0x10_0000, 0x20_0000] {
            let range = Range::new(base, 0x1000);
            inventory.born(Region { range, kind: RegionKind::Device, writers: Writers::Seen });
        }
        let variable = RegionKind::Variable { name: "total".into() };
        inventory.born(Region { range: Range::new(0x30_0000, 8), kind: variable, writers: Writers::Seen });
        let mut table = ReachTable::default();
        let mut next = |words: &[u64]| table.choose(Reach::Arguments, &dispatch(words), &inventory);
        let one = BTreeSet::from([0x10_0000, 0x30_0000]);
        assert_eq!(next(&[0x10_0000, 3]), Looked::Audit(one.clone()));
        assert_eq!(next(&[0x10_0800, 4]), Looked::Only(one.clone()), "the same shape");
        assert_eq!(next(&[3, 0x20_0000]), Looked::Audit(BTreeSet::from([0x20_0000, 0x30_0000])), "another shape");
        let audits = (0..32).filter(|_| matches!(next(&[0x10_0000, 3]), Looked::Audit(_))).count();
        assert_eq!(audits, 2);
        assert!(table.turn_off(1) && !table.turn_off(1));
        assert_eq!(table.choose(Reach::Arguments, &dispatch(&[0x10_0000]), &inventory), Looked::All);
        let unknown = DispatchInfo { arguments: Arguments::Unknown, ..dispatch(&[]) };
        assert_eq!(ReachTable::default().choose(Reach::Arguments, &unknown, &inventory), Looked::All);
    }
}
