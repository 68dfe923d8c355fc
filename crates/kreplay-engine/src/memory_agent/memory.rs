//! Flat memory in blocks.

use crate::Range;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A kernel.
#[derive(Clone)]
pub struct Work(Arc<dyn Fn(&mut Memory) + Send + Sync>);

impl Work {
    /// A kernel that does this. It may only touch live memory.
    pub fn new(kernel: impl Fn(&mut Memory) + Send + Sync + 'static) -> Self {
        Self(Arc::new(kernel))
    }

    /// Does it.
    pub fn run(&self, memory: &mut Memory) {
        (self.0)(memory);
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

/// Memory as kernels see it: blocks of bytes at addresses.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Memory {
    pub(super) fn insert(&mut self, base: u64, bytes: u64, fill: u8) {
        // Zeroed pages come from the system untouched, which large benchmarks need; anything else is poison.
        let size = bytes as usize;
        let block = if fill == 0 { vec![0; size] } else { vec![fill; size] };
        let before = self.blocks.range(..base + bytes).next_back();
        assert!(
            before.is_none_or(|(at, block)| at + block.len() as u64 <= base),
            "memory at {base:#x} was given out twice"
        );
        self.blocks.insert(base, block);
    }

    pub(super) fn remove(&mut self, base: u64) -> u64 {
        let block = self.blocks.remove(&base);
        block.unwrap_or_else(|| panic!("memory at {base:#x} was freed, but is not live")).len() as u64
    }

    /// The bytes of a range.
    ///
    /// # Panics
    /// When they are not all live, in one block.
    pub fn bytes(&self, range: Range) -> &[u8] {
        let (base, block) = self.blocks.range(..=range.base).next_back().unwrap_or_else(|| dead(range));
        let start = (range.base - base) as usize;
        block.get(start..start + range.bytes as usize).unwrap_or_else(|| dead(range))
    }

    /// The bytes of a range, to write.
    ///
    /// # Panics
    /// When they are not all live, in one block.
    pub fn bytes_mut(&mut self, range: Range) -> &mut [u8] {
        let (base, block) = self.blocks.range_mut(..=range.base).next_back().unwrap_or_else(|| dead(range));
        let start = (range.base - base) as usize;
        block.get_mut(start..start + range.bytes as usize).unwrap_or_else(|| dead(range))
    }

    /// The 32-bit word at an address.
    pub fn load(&self, address: u64) -> u32 {
        let bytes = self.bytes(Range::new(address, 4));
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Writes the 32-bit word at an address.
    pub fn store(&mut self, address: u64, value: u32) {
        self.bytes_mut(Range::new(address, 4)).copy_from_slice(&value.to_le_bytes());
    }

    /// Copies bytes; the ranges may lie in the same block.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let held = self.blocks.range(..=to).next_back().map(|(base, _)| *base);
        let (Some(base), true) = (held, bytes > 0) else { return };
        // Taken out for the time of the copy, so that both ends can be borrowed.
        let mut block = self.blocks.remove(&base).unwrap_or_default();
        let start = (to - base) as usize;
        let source = Range::new(from, bytes);
        let end = start + bytes as usize;
        if source.base >= base && source.end() <= base + block.len() as u64 {
            let first = (from - base) as usize;
            block.copy_within(first..first + bytes as usize, start);
        } else {
            let target = block.get_mut(start..end).unwrap_or_else(|| dead(Range::new(to, bytes)));
            target.copy_from_slice(self.bytes(source));
        }
        self.blocks.insert(base, block);
    }
}

#[cold]
fn dead<T>(range: Range) -> T {
    panic!("{} bytes at {:#x} were touched, but are not live", range.bytes, range.base)
}
