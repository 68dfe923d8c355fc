//! What may be asked of the address space: pointers, counts, and what is mapped.

use super::allocation::{MemoryKind, PointerInfo};
use super::error::MemoryError;
use super::space::AddressSpace;
use crate::topology::CPU_NODE;

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

impl AddressSpace {
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
}
