//! Global memory as one worker sees it: the last few mappings, kept so that most accesses ask nobody.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering};

use crate::contract::{BadAddress, Memory};

/// A mapping and where it lies in this process.
#[derive(Clone, Copy)]
struct Entry {
    base: u64,
    end: u64,
    host: *mut u8,
    writable: bool,
}

impl Entry {
    const EMPTY: Entry = Entry { base: 0, end: 0, host: std::ptr::null_mut(), writable: false };

    #[inline(always)]
    fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.base && address < self.end && bytes <= self.end - address
    }
}

/// Mappings kept.
const ENTRIES: usize = 6;

/// A worker's view of memory.
pub(super) struct MapCache<'m> {
    memory: &'m dyn Memory,
    dispatch: u64,
    oracle: bool,
    entries: [Entry; ENTRIES],
    /// The worker's scratch, which is nobody else's.
    scratch: Entry,
    oldest: usize,
}

impl<'m> MapCache<'m> {
    pub(super) fn new(memory: &'m dyn Memory, dispatch: u64) -> MapCache<'m> {
        MapCache {
            memory,
            dispatch,
            oracle: memory.oracle(),
            entries: [Entry::EMPTY; ENTRIES],
            scratch: Entry::EMPTY,
            oldest: 0,
        }
    }

    /// Makes `scratch` addressable: at its own address in this process.
    pub(super) fn set_scratch(&mut self, scratch: &mut [u32]) {
        let base = scratch.as_mut_ptr() as u64;
        let end = base + std::mem::size_of_val(scratch) as u64;
        self.scratch = Entry { base, end, host: scratch.as_mut_ptr().cast(), writable: true };
    }

    /// Whether an address is in the worker's scratch.
    #[inline]
    pub(super) fn is_scratch(&self, address: u64) -> bool {
        self.scratch.holds(address, 1)
    }

    /// Where `bytes` at `address` lie.
    #[inline]
    pub(super) fn at(&mut self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        for entry in self.entries.iter().chain([&self.scratch]) {
            if entry.holds(address, bytes) && (entry.writable || !write) {
                return Ok(entry.host.wrapping_add((address - entry.base) as usize));
            }
        }
        self.ask(address, bytes, write)
    }

    #[cold]
    fn ask(&mut self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        let bad = BadAddress { address, bytes, write };
        let mapping = self.memory.mapping(address).map_err(|_| bad)?;
        let whole = Entry { base: mapping.base, end: mapping.end, host: std::ptr::null_mut(), writable: true };
        // An access across two mappings is the memory's to judge.
        if !whole.holds(address, bytes) {
            return self.memory.host(address, bytes, write);
        }
        if write && !mapping.writable {
            return Err(bad);
        }
        let host = self.memory.host(mapping.base, mapping.end - mapping.base, mapping.writable).map_err(|_| bad)?;
        self.entries[self.oldest] = Entry { host, writable: mapping.writable, ..whole };
        self.oldest = (self.oldest + 1) % ENTRIES;
        Ok(host.wrapping_add((address - mapping.base) as usize))
    }

    /// Tells the write oracle of a store or atomic about to happen.
    #[inline]
    pub(super) fn announce(&self, address: u64, bytes: u64) {
        if self.oracle && !self.is_scratch(address) {
            self.memory.will_write(self.dispatch, address, bytes);
        }
    }

    pub(super) fn read_u32(&mut self, address: u64) -> Result<u32, BadAddress> {
        let at = self.at(address, 4, false)?;
        // SAFETY: `at` is valid for four bytes, as the memory has just said.
        Ok(unsafe { load32(at) })
    }
}

// Other threads (the program's, other queues') may access the same memory at the same time, as on a real GPU. So every
// access is an atomic one, relaxed, of the size the program asked for; where it is not aligned, of single bytes.

/// Reads a byte.
///
/// # Safety
/// `at` is valid for one byte.
#[inline(always)]
pub(super) unsafe fn load8(at: *const u8) -> u8 {
    // SAFETY: valid for a byte; bytes are always aligned.
    unsafe { AtomicU8::from_ptr(at.cast_mut()) }.load(Ordering::Relaxed)
}

/// Writes a byte.
///
/// # Safety
/// `at` is valid for one byte and may be written.
#[inline(always)]
pub(super) unsafe fn store8(at: *mut u8, value: u8) {
    // SAFETY: valid for a byte; bytes are always aligned.
    unsafe { AtomicU8::from_ptr(at) }.store(value, Ordering::Relaxed);
}

macro_rules! sized {
    ($load:ident, $store:ident, $int:ty, $atomic:ty) => {
        /// Reads a number, at any alignment.
        ///
        /// # Safety
        /// `at` is valid for its size.
        #[inline(always)]
        pub(super) unsafe fn $load(at: *const u8) -> $int {
            if at.cast::<$int>().is_aligned() {
                // SAFETY: valid for the size, and aligned.
                return unsafe { <$atomic>::from_ptr(at.cast_mut().cast()) }.load(Ordering::Relaxed);
            }
            let mut bytes = [0u8; size_of::<$int>()];
            for (n, byte) in bytes.iter_mut().enumerate() {
                // SAFETY: within the size.
                *byte = unsafe { load8(at.add(n)) };
            }
            <$int>::from_le_bytes(bytes)
        }

        /// Writes a number, at any alignment.
        ///
        /// # Safety
        /// `at` is valid for its size and may be written.
        #[inline(always)]
        pub(super) unsafe fn $store(at: *mut u8, value: $int) {
            if at.cast::<$int>().is_aligned() {
                // SAFETY: valid for the size, and aligned.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store(value, Ordering::Relaxed);
                return;
            }
            for (n, byte) in value.to_le_bytes().into_iter().enumerate() {
                // SAFETY: within the size.
                unsafe { store8(at.add(n), byte) };
            }
        }
    };
}
sized!(load16, store16, u16, AtomicU16);
sized!(load32, store32, u32, AtomicU32);
