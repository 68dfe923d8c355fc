//! Caches of both nodes. ROCr stops with an assertion when a node has none.

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache of a node.
#[derive(Clone, Copy, Debug)]
pub struct Cache {
    /// Level, from 1.
    pub level: u32,
    /// Size in KiB.
    pub kib: u32,
    /// Bytes of a line.
    pub line: u32,
    /// What it holds.
    pub kind: CacheKind,
}

/// Caches of the CPU node: nominal sizes, the runtime only shows them.
pub const CPU_CACHES: [Cache; 3] = [
    Cache { level: 1, kib: 32, line: 64, kind: CacheKind::Data },
    Cache { level: 2, kib: 512, line: 64, kind: CacheKind::Unified },
    Cache { level: 3, kib: 16384, line: 64, kind: CacheKind::Unified },
];

/// Caches of the GPU node: sizes of a real `gfx90a`.
pub const GPU_CACHES: [Cache; 3] = [
    Cache { level: 1, kib: 16, line: 64, kind: CacheKind::Data },
    Cache { level: 1, kib: 32, line: 64, kind: CacheKind::Instruction },
    Cache { level: 2, kib: 8192, line: 128, kind: CacheKind::Data },
];
