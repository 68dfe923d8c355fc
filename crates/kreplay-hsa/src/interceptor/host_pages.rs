//! Memory of the host that kernels reach without a call of the runtime.
//!
//! Where the GPU can fault pages in (`HSA_XNACK=1`), and on some processors with a GPU, kernels may use whatever the process has
//! mapped. No call tells of it and nothing could put it back beside the host's own writes, so a kernel declines that is given a
//! pointer to it. Only pointers that the code object calls pointers are looked at, and of those only the ones that no
//! allocation holds: what is left are stale pointers and what was never one. A pointer to the GPU's own memory, live or freed,
//! cannot be read through by the kernel of the host, so it is told from the host's memory.

use super::managed::is_mapped;
use super::state::Backend;
use crate::abi::POINTER_HSA;
use kreplay_engine::Range;
use std::io;

impl Backend {
    /// Whether one of these addresses, of which no allocation is known, is memory of the host that a kernel may reach.
    pub(super) fn reaches_host_pages(&self, unknown: &[u64]) -> bool {
        // The runtime's own memory, such as that of code, is no reason.
        let runtimes = |address| self.pointer(address).is_some_and(|info| info.kind == POINTER_HSA);
        unknown.iter().any(|address| is_readable(*address) && !runtimes(*address))
    }
}

/// Whether the process can read there. Memory of a device is not read that way: there the answer is no.
fn is_readable(address: u64) -> bool {
    let mut byte = 0_u8;
    let here = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: 1 };
    // SAFETY: one byte is written, to `byte`; where nothing can be read the call fails.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const here, 1, &raw const there, 1, 0) };
    read == 1 || io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT) && is_mapped(Range::new(address, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_host_is_told_from_what_cannot_be_read() {
        let word = Box::new(7_u64);
        assert!(is_readable(&raw const *word as u64));
        assert!(!is_readable(1) && !is_readable(u64::MAX) && !is_readable(1 << 63));
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh page, of which nobody but this test knows.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        // So are addresses that a runtime keeps for itself.
        assert!(!is_readable(at as u64));
        // SAFETY: as above.
        unsafe { libc::mprotect(at, 4096, libc::PROT_READ) };
        assert!(is_readable(at as u64) && is_readable(at as u64 + 4095));
        // SAFETY: nobody uses it.
        unsafe { libc::munmap(at, 4096) };
        assert!(!is_readable(at as u64));
    }
}
