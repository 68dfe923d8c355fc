//! What the program's memory is made of, as interceptors report it.

use crate::{Decline, Range};
use std::sync::Arc;

/// One live device address range. A new allocation at an old address has a new generation.
#[derive(Clone, Debug)]
pub struct Region {
    /// Where it lies.
    pub range: Range,
    /// What it is.
    pub kind: RegionKind,
    /// Who can write it behind the engine's back.
    pub writers: Writers,
}

/// Counts the regions born in this process; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// Kinds of memory. Each has one of three answers: captured, read-only (skipped), or a reason to decline when the
/// dispatch can reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegionKind {
    /// Plain device memory: captured.
    Device,
    /// Memory of a stream-ordered or other pool: captured.
    Pool,
    /// Memory mapped through the virtual-memory interface: captured.
    Mapped,
    /// A module-scope variable: captured, unless its name is a compiler's marker or it cannot be written.
    Variable {
        /// The symbol.
        name: Arc<str>,
    },
    /// Host memory that the agent can write: captured where `copyable`.
    Host {
        /// Whether the agent can copy, compare and write it.
        copyable: bool,
    },
    /// Memory that migrates between host and agent: captured where `copyable`, else declines `managed_memory`.
    Managed {
        /// Whether the agent can copy, compare and write it.
        copyable: bool,
    },
    /// Memory of another process, device or library, or that one of them may write at any time: declines
    /// `imported_memory`.
    Imported,
    /// Kernel arguments. Never restored: another launch's arguments may lie beside them.
    KernelArguments,
    /// Known to exist, cannot be captured: declines `untracked_memory`.
    Untracked,
}

/// Who can write a region other than this program's kernels and the calls that the interceptor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Only this program's seen calls. `--shadow trusted` may trust its shadow.
    Seen,
    /// Others too (peer-accessible, host-mapped): its shadow is always stale.
    Others,
}

/// A variable of a loaded code object.
#[derive(Clone, Debug)]
pub struct ModuleVariable {
    /// The symbol, as the code object spells it.
    pub name: Arc<str>,
    /// Where it was loaded.
    pub range: Range,
    /// Whether neither kernels nor the host can have changed it.
    pub constant: bool,
    /// Whether it is in managed memory, so that the host may use it at any time.
    pub managed: bool,
}

/// What the engine does with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// In the footprint: snapshotted, compared, restored.
    Captured,
    /// Not in the footprint, harmless.
    Skipped,
    /// A dispatch that can reach it declines.
    Declines(Decline),
}

impl RegionKind {
    /// The answer for this kind of memory.
    pub(crate) fn treatment(&self) -> Treatment {
        match self {
            RegionKind::Device | RegionKind::Pool | RegionKind::Mapped => Treatment::Captured,
            RegionKind::Variable { name } if is_marker(name) => Treatment::Skipped,
            RegionKind::Variable { .. } => Treatment::Captured,
            RegionKind::Host { copyable: true } | RegionKind::Managed { copyable: true } => Treatment::Captured,
            RegionKind::Host { copyable: false } | RegionKind::Untracked => {
                Treatment::Declines(Decline::UntrackedMemory)
            }
            RegionKind::Managed { copyable: false } => Treatment::Declines(Decline::ManagedMemory),
            RegionKind::Imported => Treatment::Declines(Decline::ImportedMemory),
            RegionKind::KernelArguments => Treatment::Skipped,
        }
    }
}

/// Whether a symbol is a compiler's marker of a compilation unit, one byte that nobody reads: not worth a copy.
fn is_marker(name: &str) -> bool {
    name.starts_with("__hip_cuid_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_skipped_and_variables_captured() {
        let kind = |name: &str| RegionKind::Variable { name: name.into() }.treatment();
        assert_eq!(kind("__hip_cuid_7f3a"), Treatment::Skipped);
        assert_eq!(kind("step_count"), Treatment::Captured);
    }
}
