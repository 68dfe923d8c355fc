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

    /// Host memory that argument bytes point into and that this GPU can reach, each once.
    pub(super) fn lendable(&self, arguments: &[u8], unit: usize) -> Vec<Allocation> {
        let live = self.lock();
        let mut found: Vec<Allocation> = Vec::new();
        for word in arguments.windows(8).step_by(4) {
            let address = u64::from_le_bytes(word.try_into().unwrap_or_default());
            let Some((_, allocation)) = live.range(..=address).next_back() else { continue };
            let lendable = allocation.range.contains(address)
                && allocation.kind == RegionKind::Host { copyable: false }
                && allocation.access >> (unit & 63) & 1 == 1;
            if lendable && found.iter().all(|other| other.range != allocation.range) {
                found.push(allocation.clone());
            }
        }
        found
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
