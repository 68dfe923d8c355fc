//! Why a dispatch is not replayed, and who is told.

use super::{Engine, Event};
use crate::{
    Agent, AgentError, Bytes, Decline, DispatchId, DispatchInfo, DispatchRecord, Outcome, Phases, WindowStatus, thread,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Why a dispatch declines, and what the agent said.
pub(crate) struct Refusal {
    pub(crate) reason: Decline,
    pub(crate) detail: String,
}

impl Refusal {
    pub(crate) fn new(reason: Decline, detail: impl ToString) -> Self {
        Self { reason, detail: detail.to_string() }
    }
}

impl From<Decline> for Refusal {
    fn from(reason: Decline) -> Self {
        Self { reason, detail: String::new() }
    }
}

impl<A: Agent> Engine<A> {
    /// A refusal for what the agent said: `reason`, unless the agent is lost.
    pub(crate) fn refuse(&self, reason: Decline, error: &AgentError) -> Refusal {
        if let AgentError::Lost(_) = error {
            self.lost.store(true, Ordering::Relaxed);
            return Refusal::new(Decline::AgentLost, error);
        }
        Refusal::new(reason, error)
    }

    /// Tells recorder and policy of a dispatch that has no window.
    pub(super) fn declined(
        &self,
        id: DispatchId,
        start: Duration,
        info: &DispatchInfo,
        asked: u32,
        phases: Phases,
        refusal: Refusal,
    ) {
        let Refusal { reason, detail } = refusal;
        let mut events = Vec::new();
        if let Some(message) = self.process.first_decline(reason, &detail) {
            events.push(Event::Warn(reason.name(), message));
        }
        let outcome = Outcome::Declined { reason, detail };
        let status = WindowStatus { outcome: outcome.clone(), passes_done: 0 };
        events.push(Event::Dispatch(Box::new(DispatchRecord {
            id,
            agent: self.description.id,
            kernel: info.kernel.clone(),
            geometry: info.geometry,
            stream: info.stream,
            argument_bytes: info.arguments.size(),
            thread: thread::system_number(),
            window: None,
            outcome,
            passes_asked: asked,
            passes_done: 0,
            divergence: None,
            audit: None,
            phases,
            bytes: Bytes::default(),
            write_set: None,
            start,
            notes: Vec::new(),
        })));
        events.push(Event::Ended(Box::new(info.clone()), status));
        self.tell(events);
    }
}
