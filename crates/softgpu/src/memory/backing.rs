//! Pages obtained from the host, given back when nobody can touch them any more.

use std::io;

/// Pages of an allocation. Dropped by the last of: the address space, every table that maps them.
#[derive(Debug)]
pub(super) struct Backing {
    base: u64,
    bytes: u64,
}

impl Backing {
    /// Maps `bytes` (a multiple of the page size) of zeroed memory, aligned to 2 MiB where it is large, so that huge
    /// pages can hold it.
    ///
    /// # Errors
    /// The host's error when it has no address space or memory left.
    pub(super) fn map(bytes: u64) -> io::Result<Self> {
        const HUGE: u64 = 2 << 20;
        let slack = if bytes >= HUGE { HUGE } else { 0 };
        let want = bytes.checked_add(slack).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let length = usize::try_from(want).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let raw = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if raw == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = raw as u64;
        if slack == 0 {
            return Ok(Self { base: start, bytes });
        }
        let base = start.next_multiple_of(HUGE);
        unmap(start, base - start);
        unmap(base + bytes, start + want - (base + bytes));
        Ok(Self { base, bytes })
    }

    /// First address.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        unmap(self.base, self.bytes);
    }
}

/// Gives back part of a mapping that this module made.
fn unmap(base: u64, bytes: u64) {
    if bytes == 0 {
        return;
    }
    // SAFETY: the range is part of a mapping made by `Backing::map` and nothing refers to it: it is slack that was never
    // handed out, or the last owner is being dropped.
    unsafe {
        libc::munmap(base as *mut libc::c_void, bytes as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_zeroed_writable_and_aligned() {
        for bytes in [4096u64, 1 << 20, 2 << 20, (5 << 20) + 4096] {
            let backing = Backing::map(bytes).unwrap();
            assert_eq!(backing.base() % if bytes >= 2 << 20 { 2 << 20 } else { 4096 }, 0);
            let last = (backing.base() + bytes - 1) as *mut u8;
            // SAFETY: the last byte of a mapping that lives until the end of the loop body.
            unsafe {
                assert_eq!(last.read(), 0);
                last.write(7);
                assert_eq!(last.read(), 7);
            }
        }
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(Backing::map(1 << 60).is_err());
    }
}
