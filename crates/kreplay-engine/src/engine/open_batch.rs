//! Which batch window is open, as every call of the program asks.

use super::Engine;
use crate::Agent;
use std::sync::atomic::{AtomicU8, Ordering};

/// The batch window that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum OpenBatch {
    /// None.
    Nothing,
    /// One that records, to be replayed.
    Recording,
    /// One of a single pass: it counts the program's own launches and keeps nothing.
    InLine,
}

/// An [`OpenBatch`] that changes only while the gate is held alone, so a shared hold keeps it; or, at the program's end,
/// to nothing.
#[derive(Debug)]
pub(super) struct OpenBatchCell(AtomicU8);

impl Default for OpenBatchCell {
    fn default() -> Self {
        Self(AtomicU8::new(OpenBatch::Nothing as u8))
    }
}

impl OpenBatchCell {
    pub(super) fn get(&self) -> OpenBatch {
        match self.0.load(Ordering::Relaxed) {
            1 => OpenBatch::Recording,
            2 => OpenBatch::InLine,
            _ => OpenBatch::Nothing,
        }
    }

    pub(super) fn set(&self, open: OpenBatch) {
        self.0.store(open as u8, Ordering::Relaxed);
    }
}

impl<A: Agent> Engine<A> {
    /// Which batch window is open. It changes only while the gate is held alone, and to nothing at the program's end.
    pub(super) fn open_batch_now(&self) -> OpenBatch {
        self.open_batch.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_got() {
        let cell = OpenBatchCell::default();
        for open in [OpenBatch::Recording, OpenBatch::InLine, OpenBatch::Nothing] {
            cell.set(open);
            assert_eq!(cell.get(), open);
        }
    }
}
