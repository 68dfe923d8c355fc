//! Allocations, what is mapped of them, and the table published from that.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::allocation::{Allocation, MemoryKind, Registration};
use super::backing::Backing;
use super::error::MemoryError;
use super::store::Store;
use super::table::{Entry, Table};
use crate::topology::{CPU_NODE, GPU_NODE, PAGE};

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) allocations: BTreeMap<u64, Allocation>,
    pub(super) registrations: BTreeMap<u64, Registration>,
    pub(super) vram_used: u64,
}

/// All memory that the GPU knows of.
#[derive(Debug)]
pub struct AddressSpace {
    inner: Mutex<Inner>,
    table: RwLock<Arc<Table>>,
    limit: u64,
    reaches_process: bool,
    /// Why device memory is not in a file, where it is not: then it cannot be shared.
    pub(super) store: Result<Arc<Store>, String>,
}

impl AddressSpace {
    /// An empty space with `limit` bytes of device memory.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        let store = Store::new().map(Arc::new).map_err(|e| e.to_string());
        Self { inner: Mutex::default(), table: RwLock::default(), limit, reaches_process: false, store }
    }

    /// Whether a GPU reaches all memory of the process (`HSA_XNACK=1`), not only what is mapped for it.
    #[must_use]
    pub fn reaching_process(self, reaches_process: bool) -> Self {
        Self { reaches_process, ..self }
    }

    /// As it was said.
    pub(super) fn reaches_process(&self) -> bool {
        self.reaches_process
    }

    /// Bytes of device memory in all.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes of device memory that are free.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.limit.saturating_sub(self.lock().vram_used)
    }

    /// The table as it is now.
    #[must_use]
    pub fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Allocates zeroed memory, rounded up to whole pages. It is not mapped for the GPU yet.
    ///
    /// # Errors
    /// [`MemoryError`] when the limit or the host says no, or for no bytes at all.
    pub fn allocate(&self, kind: MemoryKind, bytes: u64, flags: u32, writable: bool) -> Result<u64, MemoryError> {
        let bad = MemoryError::BadRange { address: 0, bytes };
        let rounded = bytes.checked_next_multiple_of(PAGE).filter(|&b| b > 0).ok_or(bad)?;
        let mut inner = self.lock();
        if kind == MemoryKind::Vram {
            let free = self.limit.saturating_sub(inner.vram_used);
            if rounded > free {
                return Err(MemoryError::OutOfDeviceMemory { asked: bytes, free, limit: self.limit });
            }
        }
        let mapped = match &self.store {
            Ok(store) if kind == MemoryKind::Vram => Backing::map_stored(rounded, store),
            _ => Backing::map(rounded),
        };
        let backing = mapped.map_err(|e| MemoryError::OutOfHostMemory { asked: bytes, why: e.to_string() })?;
        if kind == MemoryKind::Vram {
            inner.vram_used += rounded;
        }
        let node = if matches!(kind, MemoryKind::Vram | MemoryKind::Scratch) { GPU_NODE } else { CPU_NODE };
        Ok(insert(&mut inner, Allocation::new(backing, kind, node, flags, writable)))
    }

    /// Frees an allocation: later accesses fault. Its pages go back to the host when no running dispatch holds them.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] when `base` is the start of no allocation.
    pub fn free(&self, base: u64) -> Result<(), MemoryError> {
        let mut inner = self.lock();
        let gone = inner.allocations.remove(&base).ok_or(MemoryError::Unknown(base))?;
        if gone.kind == MemoryKind::Vram {
            inner.vram_used -= gone.backing.bytes();
        }
        if gone.mapped > 0 {
            self.publish(&inner);
        }
        Ok(())
    }

    /// Lets the GPU touch an allocation or registration (its whole pages, as a real GPU's tables do).
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] when `address` is the start of neither.
    pub fn map(&self, address: u64) -> Result<(), MemoryError> {
        let mut inner = self.lock();
        let first = {
            let mapped = mapped_mut(&mut inner, address)?;
            *mapped += 1;
            *mapped == 1
        };
        if first {
            self.publish(&inner);
        }
        Ok(())
    }

    /// Takes the GPU's access away: from an allocation at once, from a registration with the last of its mappings. What is not mapped
    /// stays so.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] when `address` is the start of no allocation or registration.
    pub fn unmap(&self, address: u64) -> Result<(), MemoryError> {
        let mut inner = self.lock();
        let registered = !inner.allocations.contains_key(&address);
        let mapped = mapped_mut(&mut inner, address)?;
        let was = *mapped;
        *mapped = if registered { was.saturating_sub(1) } else { 0 };
        if was > 0 && *mapped == 0 {
            self.publish(&inner);
        }
        Ok(())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds and publishes the table; called with the lock held, so tables follow each other in order.
    pub(super) fn publish(&self, inner: &Inner) {
        let allocated = inner.allocations.iter().filter(|(_, a)| a.mapped > 0).map(|(&base, a)| Entry {
            base,
            end: base + a.backing.bytes(),
            writable: a.writable,
            backing: Some(Arc::clone(&a.backing)),
        });
        let registered = inner.registrations.iter().filter(|(_, r)| r.mapped > 0).map(|(&base, r)| Entry {
            base: base & !(PAGE - 1),
            end: (base + r.bytes).next_multiple_of(PAGE),
            writable: true,
            backing: None,
        });
        let table = Arc::new(Table::new(allocated.chain(registered).collect()));
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = table;
    }
}

/// Adds an allocation; returns its address.
pub(super) fn insert(inner: &mut Inner, allocation: Allocation) -> u64 {
    let base = allocation.backing.base();
    inner.allocations.insert(base, allocation);
    base
}

fn mapped_mut(inner: &mut Inner, address: u64) -> Result<&mut u32, MemoryError> {
    if let Some(a) = inner.allocations.get_mut(&address) {
        return Ok(&mut a.mapped);
    }
    inner.registrations.get_mut(&address).map(|r| &mut r.mapped).ok_or(MemoryError::Unknown(address))
}
