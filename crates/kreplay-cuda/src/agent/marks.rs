//! How far the agent's stream has come: events, recorded where it is asked for.

use super::{CudaAgent, locked};
use crate::tables::{Driver, Event, Progress};
use kreplay_engine::AgentError;

/// Events of marks, kept from pass to pass; the first so many are recorded.
#[derive(Debug, Default)]
pub(super) struct Marks {
    events: Vec<Event>,
    placed: usize,
}

impl Marks {
    /// They begin anew: everything before them is over.
    pub(super) fn forget(&mut self) {
        self.placed = 0;
    }

    /// The context is about to go.
    pub(super) fn close(&mut self, driver: &Driver) {
        self.placed = 0;
        for event in self.events.drain(..) {
            // A context that is going frees what cannot be freed here.
            let _ = driver.destroy_event(event);
        }
    }
}

impl CudaAgent {
    pub(super) fn put_mark(&self) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let mut marks = locked(&self.0.marks);
        if marks.placed == marks.events.len() {
            let event = self.driver().create_event(false).map_err(|error| self.error(error))?;
            marks.events.push(event);
        }
        let event = marks.events[marks.placed];
        self.driver().record_event(event, self.stream()).map_err(|error| self.error(error))?;
        marks.placed += 1;
        Ok(())
    }

    /// Marks that have come; none where the driver does not say.
    pub(super) fn marks_reached(&self) -> u64 {
        let Ok(_entered) = self.enter() else { return 0 };
        let marks = locked(&self.0.marks);
        let come = |event: &Event| matches!(self.driver().event_progress(*event), Ok(Progress::Done));
        // They come in their order.
        marks.events[..marks.placed].partition_point(come) as u64
    }
}
