//! Ending windows that record before something goes that their launches use.

use super::state::Backend;
use super::unit::Unit;
use kreplay_engine::{ClosingReason, Range};

impl Backend {
    /// As the engine's `end_recording`, for whatever a library's destructor may call too.
    pub(super) fn end_recording(&self, unit: &Unit, reason: ClosingReason) {
        self.spare_the_loader(unit);
        unit.engine.end_recording(reason);
    }

    /// A library that is closed ends what it has with the loader held, and a replay may need threads that start: what this GPU's
    /// window has recorded is given up then.
    pub(super) fn spare_the_loader(&self, unit: &Unit) {
        if unit.engine.is_recording() && !kreplay_session::loader_is_free() {
            unit.engine.give_up_recording("something it uses went with the library that held it");
        }
    }

    /// What is known of memory is about to change that a recorded launch may reach by a pointer in memory.
    pub(super) fn attributes_change(&self, range: Range) {
        if !self.allocations.overlapping(range).is_empty() {
            self.units().iter().for_each(|unit| self.end_recording(unit, ClosingReason::Unrecordable));
        }
    }
}
