//! Managed memory (SVM ranges) goes without a call: a plain `munmap` ends it, and HIP frees its own so. What launches that were
//! recorded find there by a pointer in memory may be gone when they are replayed, even while they are. So as long as there is such
//! memory each launch has a window of its own: the program keeps what a kernel uses until that has ended.

use super::state::Backend;
use kreplay_engine::{Range, RegionKind};

/// The host's pages.
const PAGE: u64 = 4096;

impl Backend {
    /// Whether the program has managed memory now. Forgets what is not mapped any more.
    pub(super) fn has_managed(&self) -> bool {
        let managed = self.allocations.managed();
        let gone: Vec<Range> = managed.iter().copied().filter(|range| !is_mapped(*range)).collect();
        for range in &gone {
            if let Some(leaving) = self.leaving(range.base) {
                self.left(leaving, true);
            }
        }
        gone.len() < managed.len()
    }
}

/// Whether a kind of memory goes without a call.
pub(super) fn is_managed(kind: &RegionKind) -> bool {
    matches!(kind, RegionKind::Managed { .. })
}

/// Whether the process has memory at each of these addresses.
pub(super) fn is_mapped(range: Range) -> bool {
    let base = range.base / PAGE * PAGE;
    let bytes = range.end() - base;
    // SAFETY: nothing is read or written: Linux starts no write for this flag, and only looks whether the pages are mapped.
    unsafe { libc::msync(base as *mut libc::c_void, bytes as usize, libc::MS_ASYNC) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_unmapped_is_not_mapped() {
        let bytes = 3 * PAGE;
        let (protection, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: fresh pages, of which nobody but this test knows.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes as usize, protection, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        let all = Range::new(at as u64, bytes);
        assert!(is_mapped(all) && is_mapped(Range::new(all.base + 5, 7)));
        // SAFETY: the last of them; nobody has used it.
        unsafe { libc::munmap((all.base + 2 * PAGE) as *mut libc::c_void, PAGE as usize) };
        assert!(!is_mapped(all) && is_mapped(Range::new(all.base, 2 * PAGE)));
        // SAFETY: the others.
        unsafe { libc::munmap(at, 2 * PAGE as usize) };
        assert!(!is_mapped(Range::new(all.base, PAGE)));
    }
}
