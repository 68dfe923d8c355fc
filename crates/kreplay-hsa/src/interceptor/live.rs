//! Which memory the program has, by address.

use super::managed::is_managed;
use kreplay_engine::{Range, RegionKind, Writers};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A live allocation.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) range: Range,
    /// Its kind on its own GPU, or on all when it has no owner.
    pub(super) kind: RegionKind,
    /// The index of its own GPU.
    pub(super) owner: Option<usize>,
    /// Whether others may write it.
    pub(super) writers: Writers,
    /// Bytes of the device's pool that it takes.
    pub(super) pool_bytes: u64,
    /// For host memory: the GPUs that were given access, one bit each.
    pub(super) access: u64,
    /// Whether the host reads it at this address too.
    pub(super) host_address: bool,
    /// Of a mapping: the handle of the memory that is mapped.
    pub(super) handle: Option<u64>,
}

impl Allocation {
    /// Whether windows may capture it now or once something changes, so that it matters when others may write it.
    fn is_ours(&self) -> bool {
        !matches!(self.kind, RegionKind::Imported | RegionKind::KernelArguments | RegionKind::Managed { .. })
    }
}

/// What a launch's argument bytes point into.
#[derive(Default)]
pub(super) struct Reached {
    /// Host memory that its GPU can reach, each once.
    pub(super) lendable: Vec<Allocation>,
    /// Where pointers point that no allocation holds, and that do not end one which others point into.
    pub(super) unknown: Vec<u64>,
}

/// Whether argument bytes point into a range.
fn is_reached(range: Range, arguments: &[u8]) -> bool {
    kreplay_engine::pointers(arguments).any(|address| range.contains(address))
}

/// Live allocations by address.
#[derive(Default)]
pub(crate) struct Allocations {
    live: Mutex<BTreeMap<u64, Allocation>>,
    /// Those whose free waits for the end of a window.
    held: Mutex<BTreeSet<u64>>,
    /// How many of the live ones are managed memory; changed under their lock.
    managed: AtomicUsize,
    /// Held while what is known of live memory changes, here and in the engines: they hear last what came last.
    changes: Mutex<()>,
    /// Handles of memory that others may write, wherever it is mapped; changed under `changes`.
    shareable: Mutex<BTreeSet<u64>>,
}

impl Allocations {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Allocation>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be held while what is known of live memory changes. Windows are waited for meanwhile; none of them needs it.
    pub(super) fn changing(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles of memory that others may write.
    pub(super) fn shareable(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.shareable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mappings of a handle's memory.
    pub(super) fn mappings(&self, handle: u64) -> Vec<Allocation> {
        let live = self.lock();
        live.values().filter(|allocation| allocation.handle == Some(handle)).cloned().collect()
    }

    /// Others may write this allocation from now on. Whether that is new, and matters.
    pub(super) fn give_away(&self, range: Range) -> bool {
        let mut live = self.lock();
        let known = live.get_mut(&range.base).filter(|allocation| allocation.range == range && allocation.is_ours());
        known.map(|allocation| allocation.kind = RegionKind::Imported).is_some()
    }

    /// The allocation around `address`.
    pub(super) fn around(&self, address: u64) -> Option<Allocation> {
        let live = self.lock();
        let (_, allocation) = live.range(..=address).next_back()?;
        allocation.range.contains(address).then(|| allocation.clone())
    }

    /// An allocation is there.
    pub(super) fn insert(&self, allocation: Allocation) {
        let mut live = self.lock();
        self.managed.fetch_add(usize::from(is_managed(&allocation.kind)), Ordering::Relaxed);
        if let Some(old) = live.insert(allocation.range.base, allocation) {
            self.managed.fetch_sub(usize::from(is_managed(&old.kind)), Ordering::Relaxed);
        }
    }

    /// The allocation with this base is not there any more.
    pub(super) fn remove(&self, base: u64) -> Option<Allocation> {
        let mut live = self.lock();
        let allocation = live.remove(&base)?;
        self.managed.fetch_sub(usize::from(is_managed(&allocation.kind)), Ordering::Relaxed);
        Some(allocation)
    }

    /// Managed memory.
    pub(super) fn managed(&self) -> Vec<Range> {
        // Nearly always.
        if self.managed.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let live = self.lock();
        live.values().filter(|allocation| is_managed(&allocation.kind)).map(|allocation| allocation.range).collect()
    }

    /// What argument bytes point into; the words at the offsets `pointers`, which are in order, are pointers.
    pub(super) fn reached(&self, arguments: &[u8], unit: usize, pointers: &[u32]) -> Reached {
        let live = self.lock();
        let mut reached = Reached::default();
        let mut pointers = pointers.iter().copied().peekable();
        for (index, word) in arguments.windows(8).step_by(4).enumerate() {
            let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
            let is_pointer = pointers.next_if_eq(&(index as u32 * 4)).is_some();
            let below = live.range(..=address).next_back().map(|(_, allocation)| allocation);
            let Some(allocation) = below.filter(|allocation| allocation.range.contains(address)) else {
                let ends = || below.is_some_and(|one| one.range.end() == address && is_reached(one.range, arguments));
                if is_pointer && address != 0 && !ends() {
                    reached.unknown.push(address);
                }
                continue;
            };
            let lendable =
                allocation.kind == RegionKind::Host { copyable: false } && allocation.access >> (unit & 63) & 1 == 1;
            if lendable && reached.lendable.iter().all(|other| other.range != allocation.range) {
                reached.lendable.push(allocation.clone());
            }
        }
        reached
    }

    /// The allocations that a range touches.
    pub(super) fn overlapping(&self, range: Range) -> Vec<Allocation> {
        let live = self.lock();
        let touches =
            |(_, allocation): (&u64, &Allocation)| allocation.range.overlaps(range).then(|| allocation.clone());
        live.range(..range.end()).rev().map_while(touches).collect()
    }

    /// Whether there is host memory that can be lent of exactly this range.
    pub(super) fn is_lendable(&self, range: Range) -> bool {
        let lendable = |allocation: &Allocation| {
            allocation.range == range && allocation.kind == RegionKind::Host { copyable: false }
        };
        self.lock().get(&range.base).is_some_and(lendable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_that_no_allocation_holds_are_told() {
        let allocations = Allocations::default();
        allocations.insert(Allocation {
            range: Range::new(0x10_0000, 0x1000),
            kind: RegionKind::Device,
            owner: Some(0),
            writers: Writers::Seen,
            pool_bytes: 0x1000,
            access: 0,
            host_address: false,
            handle: None,
        });
        let unknown = |words: &[u64], pointers: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            allocations.reached(&bytes, 0, pointers).unknown
        };
        assert!(unknown(&[0x10_0000, 0, 0x10_0fff], &[0, 8, 16]).is_empty());
        // Only pointers count, also behind words that are none.
        assert_eq!(unknown(&[5, 6, 7], &[8]), [6]);
        // The end of what the kernel is given is no memory of somebody else's.
        assert!(unknown(&[0x10_0000, 0x10_1000], &[0, 8]).is_empty());
        assert_eq!(unknown(&[0x10_1000, 0x10_2000], &[0, 8]), [0x10_1000, 0x10_2000]);
        assert!(unknown(&[], &[0]).is_empty() && unknown(&[1], &[8]).is_empty());
    }
}
