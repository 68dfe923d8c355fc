//! Ending windows that record before something goes that their launches use.

use super::state::Backend;
use super::unit::Unit;
use kreplay_engine::{ClosingReason, Range};
use kreplay_session::{loader_is_free, spare_the_loader};

impl Backend {
    /// As the engine's `end_recording`, for whatever a library's destructor may call too.
    pub(super) fn end_recording(&self, unit: &Unit, reason: ClosingReason) {
        spare_the_loader(&unit.engine, loader_is_free);
        unit.engine.end_recording(reason);
    }

    /// What is known of memory is about to change that a recorded launch may reach by a pointer in memory.
    pub(super) fn attributes_change(&self, range: Range) {
        if !self.allocations.overlapping(range).is_empty() {
            self.units().iter().for_each(|unit| self.end_recording(unit, ClosingReason::Unrecordable));
        }
    }
}
