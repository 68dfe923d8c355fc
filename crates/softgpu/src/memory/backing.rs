//! Pages obtained from the host, given back when nobody can touch them any more.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::store::Store;

/// Large mappings are aligned to what a huge page holds.
const HUGE: u64 = 2 << 20;

/// Pages of an allocation. Dropped by the last of: the address space, every table that maps them.
#[derive(Debug)]
pub(super) struct Backing {
    base: u64,
    bytes: u64,
    stored: Option<(Arc<Store>, u64)>,
    exported: AtomicBool,
}

impl Backing {
    /// Maps `bytes` (a multiple of the page size) of zeroed memory of this process.
    ///
    /// # Errors
    /// The host's error when it has no address space or memory left.
    pub(super) fn map(bytes: u64) -> io::Result<Self> {
        Self::place(bytes, None).map(|base| Self { base, bytes, stored: None, exported: AtomicBool::new(false) })
    }

    /// Maps `bytes` of zeroed memory that another process can be given.
    ///
    /// # Errors
    /// As [`Backing::map`].
    pub(super) fn map_stored(bytes: u64, store: &Arc<Store>) -> io::Result<Self> {
        let offset = store.take(bytes)?;
        let base = Self::place(bytes, Some((store.descriptor(), offset)))?;
        Ok(Self { base, bytes, stored: Some((Arc::clone(store), offset)), exported: AtomicBool::new(false) })
    }

    /// Maps a range of another process's file.
    ///
    /// # Errors
    /// The host's.
    pub(super) fn map_shared(bytes: u64, file: BorrowedFd<'_>, offset: u64) -> io::Result<Self> {
        let base = Self::place(bytes, Some((file.as_raw_fd(), offset)))?;
        Ok(Self { base, bytes, stored: None, exported: AtomicBool::new(false) })
    }

    /// First address.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where in which file the pages lie, for another process; from now on they stay in it.
    pub(super) fn export(&self) -> Option<(i32, u64)> {
        let (store, offset) = self.stored.as_ref()?;
        self.exported.store(true, Ordering::Relaxed);
        Some((store.descriptor(), *offset))
    }

    /// Maps pages at an address of the host's choice, aligned where they are many.
    fn place(bytes: u64, file: Option<(i32, u64)>) -> io::Result<u64> {
        let slack = if bytes >= HUGE { HUGE } else { 0 };
        let want = bytes.checked_add(slack).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let reserved = mmap(None, want, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, (-1, 0))?;
        let base = if slack == 0 { reserved } else { reserved.next_multiple_of(HUGE) };
        unmap(reserved, base - reserved);
        unmap(base + bytes, reserved + want - (base + bytes));
        let (flags, file) = match file {
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, (-1, 0)),
            Some(file) => (libc::MAP_SHARED, file),
        };
        mmap(Some(base), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, file).inspect_err(|_| unmap(base, bytes))
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        unmap(self.base, self.bytes);
        if let Some((store, offset)) = &self.stored
            && !self.exported.load(Ordering::Relaxed)
        {
            store.cut(*offset, self.bytes);
        }
    }
}

/// Maps pages: anywhere, or in place of a reservation that this module made at `at`.
fn mmap(at: Option<u64>, bytes: u64, protection: i32, flags: i32, (file, offset): (i32, u64)) -> io::Result<u64> {
    let length = usize::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let fixed = if at.is_some() { libc::MAP_FIXED } else { 0 };
    let at = at.unwrap_or(0) as *mut libc::c_void;
    let flags = flags | fixed | libc::MAP_NORESERVE;
    // SAFETY: without `at` a fresh mapping touches no memory of ours; with it, it replaces a reservation that nobody uses yet.
    let raw = unsafe { libc::mmap(at, length, protection, flags, file, offset.cast_signed()) };
    if raw == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(raw as u64) }
}

/// Gives back part of a mapping that this module made.
fn unmap(base: u64, bytes: u64) {
    if bytes == 0 {
        return;
    }
    // SAFETY: the range is part of a mapping made by `mmap` above and nothing refers to it: it was never handed out, or the last
    // owner is being dropped.
    unsafe {
        libc::munmap(base as *mut libc::c_void, bytes as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zeroed_writable_and_aligned() {
        let store = Arc::new(Store::new().unwrap());
        for bytes in [4096u64, 1 << 20, 2 << 20, (5 << 20) + 4096] {
            for stored in [false, true] {
                let map = || if stored { Backing::map_stored(bytes, &store) } else { Backing::map(bytes) };
                // Twice, so that the second could see what the first left.
                for _ in 0..2 {
                    let backing = map().unwrap();
                    assert_eq!(backing.base() % if bytes >= HUGE { HUGE } else { 4096 }, 0);
                    let last = (backing.base() + bytes - 1) as *mut u8;
                    // SAFETY: the last byte of a mapping that lives until the end of the loop body.
                    unsafe {
                        assert_eq!(last.read(), 0);
                        last.write(7);
                        assert_eq!(last.read(), 7);
                    }
                }
            }
        }
    }

    #[test]
    fn an_exported_range_outlives_its_owner() {
        let store = Arc::new(Store::new().unwrap());
        // SAFETY: the store keeps its descriptor open to the end of the test.
        let file = unsafe { BorrowedFd::borrow_raw(store.descriptor()) };
        for export in [true, false] {
            let owner = Backing::map_stored(8192, &store).unwrap();
            let offset = owner.stored.as_ref().unwrap().1;
            if export {
                assert_eq!(owner.export(), Some((store.descriptor(), offset)));
            }
            let other = Backing::map_shared(8192, file, offset).unwrap();
            let (ours, theirs) = ((owner.base() + 5000) as *mut u8, (other.base() + 5000) as *mut u8);
            // SAFETY: both are bytes of live mappings.
            unsafe {
                ours.write_volatile(9);
                assert_eq!(theirs.read_volatile(), 9);
                drop(owner);
                assert_eq!(theirs.read_volatile(), if export { 9 } else { 0 });
            }
        }
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(Backing::map(1 << 60).is_err());
        assert!(Backing::map_stored(1 << 60, &Arc::new(Store::new().unwrap())).is_err());
    }
}
