//! Memory of the program that the GPU may be given.

use super::allocation::{MemoryKind, Registration};
use super::error::MemoryError;
use super::space::AddressSpace;
use crate::topology::PAGE;

impl AddressSpace {
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
}
