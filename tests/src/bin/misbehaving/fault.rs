//! What goes wrong.

use std::error::Error;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// A pass leaves one chunk unwritten.
    Missed,
    /// A pass writes where the kernel does not.
    Escaped,
    /// Somebody else writes while the window is open.
    ForeignInside,
    /// Somebody else writes before the window opens.
    ForeignBetween,
    /// No allocation of device memory succeeds during the launch.
    NoMemory,
    /// The array that the kernel changes has moved: its old address belongs to another one.
    Moved,
    /// A copy of the program's gets one byte wrong.
    CorruptCopy,
    /// The queue that a pass, or a step between passes, runs on goes into error.
    QueueError,
    /// A pass, or a step between passes, ends without telling.
    DropSignal,
}

impl Fault {
    /// Those that are drawn from in windows of one launch. There only the replays have no signal that they end by, and nobody
    /// waits for it.
    pub(crate) const OF_LAUNCHES: [Self; 10] = [
        Self::None,
        Self::Missed,
        Self::Escaped,
        Self::ForeignInside,
        Self::ForeignBetween,
        Self::NoMemory,
        Self::Moved,
        Self::CorruptCopy,
        Self::QueueError,
        Self::DropSignal,
    ];

    /// Those that are drawn from in windows of several: all but the last. A dropped signal ends in a deadline there, and then the
    /// kernel is not replayed any more.
    pub(crate) const OF_WINDOWS: &[Self] = Self::OF_LAUNCHES.split_at(Self::OF_LAUNCHES.len() - 1).0;

    pub(crate) fn named(name: &str) -> Result<Self, Box<dyn Error>> {
        let found = Self::OF_LAUNCHES.into_iter().find(|fault| format!("{fault:?}") == name);
        found.ok_or_else(|| format!("there is no fault {name}").into())
    }
}

/// What was tried, and what came of it.
pub(crate) struct Told {
    pub(crate) launches: u64,
    pub(crate) fault: Fault,
    pub(crate) pass: u64,
    pub(crate) right: bool,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { launches, fault, pass, right } = self;
        let memory = if *right { "ok" } else { "WRONG" };
        write!(f, "launches {launches} fault {fault:?} pass {pass} memory {memory}")
    }
}
