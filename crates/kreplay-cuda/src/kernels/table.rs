//! The table of ranges that a launch works on.

/// Bytes that one warp takes at a time.
pub(crate) const TILE_BYTES: u64 = 4096;

/// One range or pair of ranges, as the kernels read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Compare: memory. Copy, synchronise: the source. Hash: the range.
    pub(crate) a: u64,
    /// Compare: shadow. Copy, synchronise: the destination.
    pub(crate) b: u64,
    /// Length.
    pub(crate) bytes: u64,
    /// Tiles of all entries before this one.
    pub(crate) first_tile: u64,
    /// Compare, synchronise: the first 32-bit word of the entry's map. Hash: its first value.
    pub(crate) out: u64,
    /// Where the hashes of `b`'s tiles lie, or of `a`'s where there is no other side; 0: there are none.
    pub(crate) digests: u64,
}

const _: () = assert!(std::mem::size_of::<Entry>() == 48);

/// Entries with their tiles and places in the result counted up. Empty ranges have no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    tiles: u64,
}

impl Table {
    /// Adds a range or pair whose result begins at `out`.
    pub(crate) fn push(&mut self, a: u64, b: u64, bytes: u64, out: u64) {
        self.push_hashed(a, b, bytes, out, 0);
    }

    /// The same, with hashes.
    pub(crate) fn push_hashed(&mut self, a: u64, b: u64, bytes: u64, out: u64, digests: u64) {
        if bytes == 0 {
            return;
        }
        self.entries.push(Entry { a, b, bytes, first_tile: self.tiles, out, digests });
        self.tiles += bytes.div_ceil(TILE_BYTES);
    }

    /// The entries.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Tiles of all entries.
    pub(crate) fn tiles(&self) -> u64 {
        self.tiles
    }

    /// The entries as the device reads them.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `Entry` is six 64-bit numbers without padding, asserted above.
        unsafe { std::slice::from_raw_parts(self.entries.as_ptr().cast(), std::mem::size_of_val(&*self.entries)) }
    }
}
