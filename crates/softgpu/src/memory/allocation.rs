//! What is known of one allocation or registration.

use std::sync::Arc;

use super::backing::Backing;

/// What kind of memory a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Device memory; counts against the device's limit.
    Vram,
    /// Host memory of the runtime.
    Host,
    /// Address range for private memory: address space only, no limit.
    Scratch,
    /// Memory of the program, registered for the GPU.
    Registered,
    /// Device memory of another process.
    Imported,
}

/// One allocation.
#[derive(Debug)]
pub struct Allocation {
    pub(super) backing: Arc<Backing>,
    /// Kind.
    pub kind: MemoryKind,
    /// Node it is on.
    pub node: u32,
    /// The thunk's flags, handed back by pointer queries.
    pub flags: u32,
    /// Whether the GPU may store there.
    pub writable: bool,
    /// How often it has been mapped for the GPU.
    pub(super) mapped: u32,
    /// What the runtime hung on it.
    pub user_data: usize,
}

impl Allocation {
    /// An allocation that the GPU does not see yet.
    pub(super) fn new(backing: Backing, kind: MemoryKind, node: u32, flags: u32, writable: bool) -> Self {
        Self { backing: Arc::new(backing), kind, node, flags, writable, mapped: 0, user_data: 0 }
    }
}

/// One registered range of the program's memory, kept as often as it was registered.
#[derive(Debug)]
pub(super) struct Registration {
    /// Bytes from the registered address.
    pub(super) bytes: u64,
    /// The thunk's flags.
    pub(super) flags: u32,
    /// How often it was registered.
    pub(super) count: u32,
    /// How often it has been mapped for the GPU.
    pub(super) mapped: u32,
    /// What the runtime hung on it.
    pub(super) user_data: usize,
}

/// The answer to a pointer query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerInfo {
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// Node it is on.
    pub node: u32,
    /// The thunk's flags at allocation.
    pub flags: u32,
    /// First address.
    pub base: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether the GPU may touch it now.
    pub mapped: bool,
    /// What the runtime hung on it.
    pub user_data: usize,
}
