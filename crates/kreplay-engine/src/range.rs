//! Address ranges and chunks.

/// A range of addresses as the agent sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// Length in bytes; ranges of length 0 are legal and empty.
    pub bytes: u64,
}

impl Range {
    /// The range of `bytes` bytes from `base`.
    pub fn new(base: u64, bytes: u64) -> Self {
        Self { base, bytes }
    }

    /// First address after the range; saturates at the end of the address space.
    pub fn end(self) -> u64 {
        self.base.saturating_add(self.bytes)
    }

    /// Whether `address` lies in the range.
    pub fn contains(self, address: u64) -> bool {
        address >= self.base && address < self.end()
    }

    /// Whether the two share a byte.
    pub fn overlaps(self, other: Range) -> bool {
        self.base < other.end() && other.base < self.end()
    }
}

/// The size in which memory is compared and restored: a power of two. Chunks are counted from the base of the range
/// or region that is divided; the last one may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk(u32);

impl Chunk {
    /// The default, 4 KiB.
    pub const DEFAULT: Chunk = Chunk(12);

    /// A chunk of `bytes` bytes; `None` unless `bytes` is a power of two from 64 B to 1 GiB.
    pub fn new(bytes: u64) -> Option<Self> {
        (bytes.is_power_of_two() && (64..=1 << 30).contains(&bytes)).then(|| Chunk(bytes.trailing_zeros()))
    }

    /// Bytes of a chunk.
    pub fn bytes(self) -> u64 {
        1 << self.0
    }

    /// Chunks that `bytes` bytes have, the last one perhaps partly filled.
    pub fn count(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.bytes())
    }
}
