//! Memory shared between processes.
//!
//! A handle is eight words, as the thunk hands them around: a mark, the process, the descriptor of its file of device memory, offset and
//! size in pages, and three zeroes: ROCr puts the place of a fragment into the seventh. Another process of the same user opens the file
//! through `/proc`.

use std::fs::File;
use std::os::fd::AsFd;

use super::allocation::{Allocation, MemoryKind};
use super::backing::Backing;
use super::error::MemoryError;
use super::space::{AddressSpace, insert};
use crate::topology::{GPU_NODE, PAGE};

/// Marks a handle of ours ("sgpu").
const MARK: u32 = 0x7570_6773;

/// A range of a process's device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHandle {
    process: u32,
    descriptor: u32,
    offset: u64,
    bytes: u64,
}

impl SharedHandle {
    /// A handle for a range of this process's file.
    pub(super) fn new(descriptor: i32, offset: u64, bytes: u64) -> Self {
        Self { process: std::process::id(), descriptor: descriptor.cast_unsigned(), offset, bytes }
    }

    /// The words that the thunk hands around.
    #[must_use]
    pub fn words(&self) -> [u32; 8] {
        let pages = |bytes: u64| (bytes / PAGE) as u32;
        [MARK, self.process, self.descriptor, pages(self.offset), pages(self.bytes), 0, 0, 0]
    }

    /// Reads the words; `None` for a handle that is not ours.
    #[must_use]
    pub fn from_words(words: [u32; 8]) -> Option<Self> {
        let [MARK, process, descriptor, offset, pages, 0, 0, 0] = words else { return None };
        Some(Self { process, descriptor, offset: u64::from(offset) * PAGE, bytes: u64::from(pages) * PAGE })
    }

    /// Maps the range into this process.
    ///
    /// # Errors
    /// [`MemoryError::NotShared`] when the other process is gone or not ours to look into.
    pub(super) fn open(&self) -> Result<Backing, MemoryError> {
        let refused = |e: std::io::Error| MemoryError::NotShared { process: self.process, why: e.to_string() };
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let file = File::options().read(true).write(true).open(path).map_err(refused)?;
        Backing::map_shared(self.bytes, file.as_fd(), self.offset).map_err(refused)
    }
}

impl AddressSpace {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let handle = SharedHandle { process: 7, descriptor: 3, offset: 1 << 40 | 4096, bytes: 8192 };
        assert_eq!(SharedHandle::from_words(handle.words()), Some(handle));
        let mut other = handle.words();
        other[0] ^= 1;
        assert_eq!(SharedHandle::from_words(other), None);
        assert_eq!(SharedHandle::from_words([0; 8]), None);
    }
}
