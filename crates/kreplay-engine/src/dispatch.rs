//! A kernel launch by the program, as interceptors report it.

use crate::Decline;
use std::sync::Arc;

/// A dispatch's number: one for each launch by the program, unique in the process, however many passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DispatchId(pub u64);

/// A window's number, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId(pub u64);

/// A kernel, the same for all its launches.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    /// Stands for this kernel in lookups: the same value for the same loaded kernel while it is loaded.
    pub key: u64,
    /// Its name, demangled where that is known.
    pub name: Arc<str>,
}

/// Work-items and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// Work-groups (blocks) in each dimension.
    pub groups: [u32; 3],
    /// Work-items (threads) of a group in each dimension.
    pub items: [u32; 3],
}

/// What makes a launch special. Each of these declines, unless the backend has said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Why nothing can be counted of it, in whatever way, as far as the interceptor knows.
    pub decline: Option<Decline>,
    /// It reaches memory that cannot be put back, though no region that its arguments point into says so: why it declines
    /// where it would be replayed. In a single pass it is counted.
    pub unrestorable: Option<Decline>,
    /// Waits for other devices or the host: it must not be run twice.
    pub collective: bool,
    /// Reaches memory that the host may write at any time between launches, and that only a kernel window can put back:
    /// it is not recorded in a batch window.
    pub own_window: bool,
}

impl Traits {
    /// Why a launch cannot be run again, as far as it is special.
    pub(crate) fn unrepeatable(&self) -> Option<Decline> {
        self.decline.or(self.unrestorable).or(self.collective.then_some(Decline::Collective))
    }
}

/// The launch's argument bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// All of them, as the kernel sees them.
    Known(Arc<[u8]>),
    /// Only their size.
    Size(u32),
    /// Nothing is known.
    Unknown,
}

impl Arguments {
    /// Their size in bytes, where known.
    pub fn size(&self) -> Option<u32> {
        match self {
            Arguments::Known(bytes) => u32::try_from(bytes.len()).ok(),
            Arguments::Size(bytes) => Some(*bytes),
            Arguments::Unknown => None,
        }
    }
}

/// What is known of a launch. Cheap to make: the engine reads only `kernel` when the dispatch is not selected.
#[derive(Clone, Debug)]
pub struct DispatchInfo {
    /// Which kernel.
    pub kernel: KernelInfo,
    /// How large.
    pub geometry: Geometry,
    /// The stream or queue, as the vendor's handle.
    pub stream: u64,
    /// Its arguments.
    pub arguments: Arguments,
    /// What makes it special.
    pub traits: Traits,
}
