//! A GPU's memory for tests: buffers at their own addresses.

use std::cell::UnsafeCell;
use std::sync::Mutex;

use softgpu::contract::{BadAddress, Mapping, Memory};

/// Bytes that a kernel may use, on pages of their own.
pub struct Buffer {
    words: Box<[UnsafeCell<Page>]>,
    bytes: usize,
}

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// What a fresh buffer holds: nothing that a kernel would write.
const POISON: u8 = 0xa5;

impl Buffer {
    /// A poisoned buffer.
    pub fn poisoned(bytes: usize) -> Buffer {
        let words = (0..bytes.div_ceil(4096).max(1)).map(|_| UnsafeCell::new(Page([POISON; 4096]))).collect();
        Buffer { words, bytes }
    }

    /// A buffer with the bytes of `values`.
    pub fn of<T: Copy>(values: &[T]) -> Buffer {
        let buffer = Buffer::poisoned(size_of_val(values));
        // SAFETY: the buffer holds at least as many bytes, and nobody else knows it yet. `T` is plain numbers.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), buffer.pointer(), size_of_val(values)) };
        buffer
    }

    /// A poisoned buffer for `count` values.
    pub fn for_values<T>(count: usize) -> Buffer {
        Buffer::poisoned(count * size_of::<T>())
    }

    fn pointer(&self) -> *mut u8 {
        self.words[0].get().cast()
    }

    pub fn address(&self) -> u64 {
        self.pointer() as u64
    }

    /// The content as numbers.
    pub fn read<T: Copy>(&self) -> Vec<T> {
        let count = self.bytes / size_of::<T>();
        // SAFETY: within the buffer, which is aligned for any number; no kernel runs while a test reads.
        (0..count).map(|n| unsafe { self.pointer().cast::<T>().add(n).read() }).collect()
    }
}

/// The memory of one dispatch.
pub struct TestMemory<'a> {
    regions: Vec<(&'a Buffer, bool)>,
    /// Ranges that were announced, when asked to keep them.
    pub written: Option<Mutex<Vec<(u64, u64)>>>,
}

impl<'a> TestMemory<'a> {
    pub fn new(writable: &[&'a Buffer], read_only: &[&'a Buffer]) -> TestMemory<'a> {
        let regions = writable.iter().map(|b| (*b, true)).chain(read_only.iter().map(|b| (*b, false))).collect();
        TestMemory { regions, written: None }
    }

    fn find(&self, address: u64, bytes: u64) -> Option<(&'a Buffer, bool)> {
        self.regions.iter().copied().find(|(buffer, _)| {
            let base = buffer.address();
            address >= base && address.checked_add(bytes).is_some_and(|end| end <= base + buffer.bytes as u64)
        })
    }
}

// SAFETY: the buffers live as long as this memory, and their pages are only touched through pointers while a dispatch
// runs. Sharing between threads: each access of a kernel is atomic.
unsafe impl Memory for TestMemory<'_> {
    fn host(&self, address: u64, bytes: u64, write: bool) -> Result<*mut u8, BadAddress> {
        match self.find(address, bytes) {
            Some((_, writable)) if writable || !write => Ok(address as *mut u8),
            _ => Err(BadAddress { address, bytes, write }),
        }
    }

    fn mapping(&self, address: u64) -> Result<Mapping, BadAddress> {
        let (buffer, writable) = self.find(address, 1).ok_or(BadAddress { address, bytes: 1, write: false })?;
        Ok(Mapping { base: buffer.address(), end: buffer.address() + buffer.bytes as u64, writable })
    }

    fn oracle(&self) -> bool {
        self.written.is_some()
    }

    fn will_write(&self, _id: u64, address: u64, bytes: u64) {
        if let Some(written) = &self.written {
            written.lock().expect("no test panics here").push((address, bytes));
        }
    }
}

// SAFETY: see above.
unsafe impl Sync for TestMemory<'_> {}

impl Buffer {
    /// Replaces the first bytes.
    pub fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.bytes, "{} bytes into a buffer of {}", bytes.len(), self.bytes);
        // SAFETY: within the buffer; no kernel runs while a test writes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer(), bytes.len()) };
    }
}
