//! One window: what was begun, and which readings belong to which dispatch.

use super::ffi::Event;
use super::sampling::{SampledPass, Sums};
use kreplay_engine::{Plan, PlannedPass};
use std::sync::Arc;

/// The two readings around a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) dispatch: u32,
    /// The number, in the group, of the one before; the one after has the next.
    pub(super) reading: usize,
    /// Whether there is one after.
    pub(super) complete: bool,
}

/// A pass that was begun.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) pass: PlannedPass,
    /// Its group among the plan's, or `None` when it counts nothing.
    pub(super) group: Option<usize>,
    pub(super) around: Vec<Around>,
    /// The number of its first reading in the group: passes that repeat a group come after each other.
    first: usize,
}

impl Counted {
    /// A dispatch follows: the number of the reading before it.
    pub(super) fn before(&mut self, dispatch: u32) -> usize {
        let reading = self.first + self.around.len() * 2;
        self.around.push(Around { dispatch, reading, complete: false });
        reading
    }

    /// A dispatch was submitted: the number of the reading after it, or `None` when it was not the last to be
    /// announced.
    pub(super) fn after(&mut self, dispatch: u32) -> Option<usize> {
        let around = self.around.last_mut().filter(|around| around.dispatch == dispatch && !around.complete)?;
        around.complete = true;
        Some(around.reading + 1)
    }

    /// The last reading could not be submitted: its dispatch is not counted.
    pub(super) fn forget_last(&mut self) {
        if let Some(around) = self.around.last_mut() {
            around.complete = false;
        }
    }
}

/// A window that is open.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) plan: Plan,
    pub(super) passes: Vec<Counted>,
    /// Whether the last of `passes`, or `sampled`, has begun and not ended.
    pub(super) running: bool,
    /// The pass that is being sampled.
    pub(super) sampled: Option<SampledPass>,
    /// What sampled passes counted.
    pub(super) sums: Vec<(PlannedPass, Sums)>,
}

impl Window {
    /// A pass begins, whose readings are taken with a group.
    pub(super) fn begin(&mut self, pass: PlannedPass, group: Option<usize>) {
        let same = self.passes.iter().filter(|counted| counted.group == group);
        let first = same.map(|counted| counted.around.len() * 2).sum();
        self.passes.push(Counted { pass, group, around: Vec::new(), first });
        self.running = true;
    }
}

/// What a pass stored, copied from the device's buffers.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) pass: PlannedPass,
    /// The events that were read.
    pub(super) events: Arc<[Event]>,
    /// For each dispatch what was stored before and after it.
    pub(super) around: Vec<(u32, Vec<u64>, Vec<u64>)>,
}
