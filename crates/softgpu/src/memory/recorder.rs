//! The write oracle: what one dispatch stored to, and what it changed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::topology::PAGE;

const BYTES: usize = PAGE as usize;
const SHARDS: usize = 16;

/// A run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Range {
    /// First address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What a dispatch wrote, as coalesced ranges in order of address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteSet {
    /// Every byte that a store or an atomic went to.
    pub stored: Vec<Range>,
    /// Those whose value differs from before the dispatch.
    pub changed: Vec<Range>,
    /// The pages that hold them.
    pub pages: Vec<Page>,
}

/// A page that was stored to, and hashes of all of its content before the first store and after the last. Over several
/// writers in order, the first `before` and the last `after` tell whether anything is left of what they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it begins.
    pub address: u64,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// A page as it was before the first store of the dispatch, and which of its bytes were stored to.
struct Kept {
    old: [u8; BYTES],
    stored: [u64; BYTES / 64],
}

/// Records one dispatch's writes. Stores of one dispatch may come from several threads.
#[derive(Default)]
pub struct Recorder {
    shards: [Mutex<HashMap<u64, Box<Kept>>>; SHARDS],
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a store that is about to happen, and keeps the pages' content the first time.
    ///
    /// # Safety
    /// `bytes` at `address` must be mapped, and whole pages around them too (mappings are whole pages).
    pub unsafe fn note(&self, address: u64, bytes: u64) {
        let end = address + bytes;
        let mut at = address;
        while at < end {
            let page = at & !(PAGE - 1);
            let stop = end.min(page + PAGE);
            let mut shard = self.shard(page);
            let kept = shard.entry(page).or_insert_with(|| {
                // SAFETY: the caller says that the page is mapped.
                Box::new(Kept { old: unsafe { read_page(page) }, stored: [0; BYTES / 64] })
            });
            for byte in (at - page)..(stop - page) {
                kept.stored[(byte / 64) as usize] |= 1 << (byte % 64);
            }
            at = stop;
        }
    }

    /// What was stored and changed so far.
    ///
    /// # Safety
    /// Every noted range must still be mapped.
    #[must_use]
    pub unsafe fn write_set(&self) -> WriteSet {
        let mut set = WriteSet::default();
        for base in self.pages() {
            let shard = self.shard(base);
            let page = &shard[&base];
            // SAFETY: the caller says that noted ranges are still mapped.
            let now = unsafe { read_page(base) };
            set.pages.push(Page { address: base, before: hash(&page.old), after: hash(&now) });
            for (byte, (old, now)) in page.old.iter().zip(&now).enumerate() {
                if page.stored[byte / 64] >> (byte % 64) & 1 == 1 {
                    let address = base + byte as u64;
                    push(&mut set.stored, address);
                    if old != now {
                        push(&mut set.changed, address);
                    }
                }
            }
        }
        set
    }

    /// Puts back what the dispatch stored in the first chunk of `chunk` bytes (a power of two) that it changed; returns
    /// the chunk's address. Other bytes of the chunk are left alone.
    ///
    /// # Safety
    /// Every noted range must still be mapped for stores.
    pub unsafe fn undo_first_chunk(&self, chunk: u64) -> Option<u64> {
        // SAFETY: as this function's.
        let first = unsafe { self.write_set() }.changed.first()?.address & !(chunk - 1);
        for base in self.pages() {
            let shard = self.shard(base);
            let page = &shard[&base];
            for byte in 0..BYTES {
                let address = base + byte as u64;
                if (first..first + chunk).contains(&address) && page.stored[byte / 64] >> (byte % 64) & 1 == 1 {
                    // SAFETY: a noted byte, mapped for stores as the caller says; an atomic of one byte is always aligned.
                    unsafe { AtomicU8::from_ptr(address as *mut u8) }.store(page.old[byte], Ordering::Relaxed);
                }
            }
        }
        Some(first)
    }

    /// Whether the dispatch stored anywhere in the page of `address`.
    #[must_use]
    pub fn touched_page(&self, address: u64) -> bool {
        let page = address & !(PAGE - 1);
        self.shard(page).contains_key(&page)
    }

    /// Addresses of the pages that the dispatch stored to, in order.
    #[must_use]
    pub fn pages(&self) -> Vec<u64> {
        let lock = |s: &Mutex<HashMap<u64, Box<Kept>>>| -> Vec<u64> {
            s.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
        };
        let mut pages: Vec<u64> = self.shards.iter().flat_map(lock).collect();
        pages.sort_unstable();
        pages
    }

    fn shard(&self, page: u64) -> MutexGuard<'_, HashMap<u64, Box<Kept>>> {
        self.shards[(page / PAGE) as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(ranges: &mut Vec<Range>, address: u64) {
    match ranges.last_mut() {
        Some(last) if last.address + last.bytes == address => last.bytes += 1,
        _ => ranges.push(Range { address, bytes: 1 }),
    }
}

/// FNV-1a.
fn hash(page: &[u8; BYTES]) -> u64 {
    page.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Copies a page that other threads may be storing to.
///
/// # Safety
/// The page must be mapped.
unsafe fn read_page(base: u64) -> [u8; BYTES] {
    let mut copy = [0; BYTES];
    for (i, bytes) in copy.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        // SAFETY: eight aligned bytes of a mapped page; atomic, since another thread may store there at the same time.
        let word = unsafe { AtomicU64::from_ptr((base + i as u64 * 8) as *mut u64) }.load(Ordering::Relaxed);
        *bytes = word.to_ne_bytes();
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::super::{AddressSpace, MemoryKind};
    use super::*;

    fn store(address: u64, bytes: &[u8]) {
        // SAFETY: tests store into their own live allocation.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    }

    #[test]
    fn stored_and_changed_are_told_apart_to_the_byte() {
        let space = AddressSpace::new(1 << 20);
        let base = space.allocate(MemoryKind::Vram, 3 * 4096, 0, true).unwrap();
        store(base, &[9; 16]);
        let recorder = Recorder::new();
        // SAFETY: the allocation lives to the end of the test.
        unsafe {
            recorder.note(base, 16);
            store(base, &[9, 9, 1, 9, 9, 9, 9, 9, 2, 2, 9, 9, 9, 9, 9, 9]);
            recorder.note(base + 4090, 12);
            store(base + 4090, &[1; 12]);
            recorder.note(base, 4);
            let set = recorder.write_set();
            assert_eq!(set.stored, [Range { address: base, bytes: 16 }, Range { address: base + 4090, bytes: 12 }]);
            let changed = [(2, 1), (8, 2), (4090, 12)].map(|(o, bytes)| Range { address: base + o, bytes });
            assert_eq!(set.changed, changed);
            assert_eq!(set.pages.iter().map(|page| page.address).collect::<Vec<_>>(), [base, base + 4096]);
            assert!(set.pages.iter().all(|page| page.before != page.after));
            assert!(recorder.touched_page(base + 5000) && !recorder.touched_page(base + 8192));
            assert_eq!(recorder.undo_first_chunk(4096), Some(base));
            assert_eq!(recorder.write_set().changed, [Range { address: base + 4096, bytes: 6 }]);
        }
    }
}
