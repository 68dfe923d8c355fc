//! Allocations, registrations and the table published from them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::allocation::{Allocation, MemoryKind, PointerInfo, Registration};
use super::backing::Backing;
use super::share::SharedHandle;
use super::store::Store;
use super::table::{Entry, Table};
use crate::topology::{CPU_NODE, GPU_NODE, PAGE};

/// Why a memory call was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The device's limit is reached.
    #[error("{asked} bytes of device memory were asked for, {free} of {limit} are free; raise SOFTGPU_MEMORY_MIB")]
    OutOfDeviceMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free.
        free: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The host refused.
    #[error("the host gave no memory for {asked} bytes: {why}")]
    OutOfHostMemory {
        /// Bytes asked for.
        asked: u64,
        /// The host's words.
        why: String,
    },
    /// Nothing is known at this address.
    #[error("{0:#x} is the start of no allocation or registration")]
    Unknown(u64),
    /// Memory that cannot be shared.
    #[error("the memory at {address:#x} cannot be shared between processes: {why}")]
    CannotShare {
        /// Its address.
        address: u64,
        /// Why.
        why: String,
    },
    /// Memory of another process that cannot be had.
    #[error("the memory of process {process} cannot be mapped: {why}")]
    NotShared {
        /// The process.
        process: u32,
        /// The host's words.
        why: String,
    },
    /// A size of zero or past the end of the address space.
    #[error("{bytes} bytes at {address:#x} are no range")]
    BadRange {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
}

/// Live ranges, for leak tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Allocations of device memory.
    pub vram: u64,
    /// Allocations of host memory.
    pub host: u64,
    /// Registered ranges.
    pub registered: u64,
    /// Bytes of device memory in use.
    pub vram_bytes: u64,
}

#[derive(Debug, Default)]
struct Inner {
    allocations: BTreeMap<u64, Allocation>,
    registrations: BTreeMap<u64, Registration>,
    vram_used: u64,
}

/// All memory that the GPU knows of.
#[derive(Debug)]
pub struct AddressSpace {
    inner: Mutex<Inner>,
    table: RwLock<Arc<Table>>,
    limit: u64,
    /// Why device memory is not in a file, where it is not: then it cannot be shared.
    store: Result<Arc<Store>, String>,
}

impl AddressSpace {
    /// An empty space with `limit` bytes of device memory.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        let store = Store::new().map(Arc::new).map_err(|e| e.to_string());
        Self { inner: Mutex::default(), table: RwLock::default(), limit, store }
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

    /// A handle with which another process can map the allocation that starts at `base`.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`], or [`MemoryError::CannotShare`] for anything but device memory.
    pub fn share(&self, base: u64) -> Result<SharedHandle, MemoryError> {
        let inner = self.lock();
        let backing = &inner.allocations.get(&base).ok_or(MemoryError::Unknown(base))?.backing;
        let (descriptor, offset) = backing.export().ok_or_else(|| MemoryError::CannotShare {
            address: base,
            why: self.store.as_ref().err().map_or("it is not device memory", String::as_str).to_owned(),
        })?;
        Ok(SharedHandle::new(descriptor, offset, backing.bytes()))
    }

    /// Maps device memory of another process into this one, not yet for the GPU; returns address and bytes. [`AddressSpace::free`]
    /// lets it go.
    ///
    /// # Errors
    /// [`MemoryError::NotShared`].
    pub fn import(&self, handle: &SharedHandle) -> Result<(u64, u64), MemoryError> {
        let backing = handle.open()?;
        let bytes = backing.bytes();
        let allocation = Allocation::new(backing, MemoryKind::Imported, GPU_NODE, 0, true);
        Ok((insert(&mut self.lock(), allocation), bytes))
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

    /// Notes memory of the program that the GPU may be given; it is not mapped yet. An address may be registered several times, by
    /// several threads and with different sizes: the largest counts until the last registration is taken back.
    ///
    /// # Errors
    /// [`MemoryError::BadRange`] for no bytes or a range past the end of the address space.
    pub fn register(&self, address: u64, bytes: u64, flags: u32) -> Result<(), MemoryError> {
        let bad = MemoryError::BadRange { address, bytes };
        let end = address.checked_add(bytes).filter(|_| bytes > 0 && address > 0).ok_or(bad.clone())?;
        end.checked_next_multiple_of(PAGE).ok_or(bad)?;
        let mut inner = self.lock();
        if inner.allocations.contains_key(&address) {
            return Ok(());
        }
        let known = inner.registrations.entry(address).or_insert(Registration {
            bytes,
            flags,
            count: 0,
            mapped: 0,
            user_data: 0,
        });
        known.count += 1;
        let grown = bytes > known.bytes && known.mapped > 0;
        known.bytes = known.bytes.max(bytes);
        if grown {
            self.publish(&inner);
        }
        Ok(())
    }

    /// Takes one registration back; with the last one the range is unmapped. Imported memory is let go.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] when nothing was registered at this address.
    pub fn deregister(&self, address: u64) -> Result<(), MemoryError> {
        let mut inner = self.lock();
        let Some(known) = inner.registrations.get_mut(&address) else {
            let kind = inner.allocations.get(&address).ok_or(MemoryError::Unknown(address))?.kind;
            drop(inner);
            return if kind == MemoryKind::Imported { self.free(address) } else { Ok(()) };
        };
        known.count -= 1;
        if known.count == 0 {
            inner.registrations.remove(&address);
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

    /// What holds `address`, whether mapped or not.
    #[must_use]
    pub fn pointer(&self, address: u64) -> Option<PointerInfo> {
        let inner = self.lock();
        if let Some((&base, a)) = inner.allocations.range(..=address).next_back()
            && address < base + a.backing.bytes()
        {
            return Some(PointerInfo {
                kind: a.kind,
                node: a.node,
                flags: a.flags,
                base,
                bytes: a.backing.bytes(),
                mapped: a.mapped > 0,
                user_data: a.user_data,
            });
        }
        let (&base, r) = inner.registrations.range(..=address).next_back()?;
        (address < base + r.bytes).then_some(PointerInfo {
            kind: MemoryKind::Registered,
            node: CPU_NODE,
            flags: r.flags,
            base,
            bytes: r.bytes,
            mapped: r.mapped > 0,
            user_data: r.user_data,
        })
    }

    /// Hangs a word of the runtime on what starts at or holds `address`.
    ///
    /// # Errors
    /// [`MemoryError::Unknown`] when nothing does.
    pub fn set_user_data(&self, address: u64, value: usize) -> Result<(), MemoryError> {
        let base = self.pointer(address).ok_or(MemoryError::Unknown(address))?.base;
        let mut inner = self.lock();
        if let Some(a) = inner.allocations.get_mut(&base) {
            a.user_data = value;
        } else if let Some(r) = inner.registrations.get_mut(&base) {
            r.user_data = value;
        }
        Ok(())
    }

    /// Live ranges.
    #[must_use]
    pub fn counts(&self) -> MemoryCounts {
        let inner = self.lock();
        let of = |kind| inner.allocations.values().filter(|a| a.kind == kind).count() as u64;
        MemoryCounts {
            vram: of(MemoryKind::Vram),
            host: of(MemoryKind::Host),
            registered: inner.registrations.len() as u64,
            vram_bytes: inner.vram_used,
        }
    }

    /// Mapped device memory, base and end, in order: where a fault test may aim.
    #[must_use]
    pub fn mapped_vram(&self) -> Vec<(u64, u64)> {
        let inner = self.lock();
        let mapped = inner.allocations.iter().filter(|(_, a)| a.kind == MemoryKind::Vram && a.mapped > 0);
        mapped.map(|(&base, a)| (base, base + a.backing.bytes())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds and publishes the table; called with the lock held, so tables follow each other in order.
    fn publish(&self, inner: &Inner) {
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

fn insert(inner: &mut Inner, allocation: Allocation) -> u64 {
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
