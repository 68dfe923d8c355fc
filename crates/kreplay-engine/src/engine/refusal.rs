//! Why a dispatch is not replayed, and who is told.

use super::{Engine, Event};
use crate::{
    Agent, AgentError, AgentId, Bytes, Decline, DispatchId, DispatchInfo, DispatchRecord, Outcome, Phases, Process,
    WindowStatus, thread,
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
        let mut events = Vec::new();
        if let Some(message) = self.process.first_decline(refusal.reason, &refusal.detail) {
            events.push(Event::Warn(refusal.reason.name(), message));
        }
        let record =
            DispatchRecord { passes_asked: asked, phases, ..record(id, self.description.id, start, info, refusal) };
        let status = WindowStatus { outcome: record.outcome.clone(), passes_done: 0 };
        events.push(Event::Dispatch(Box::new(record)));
        events.push(Event::Ended(Box::new(info.clone()), status));
        self.tell(events);
    }
}

impl Process {
    /// A launch that [`Process::select`] gave this number declines on an agent that has no engine, and cannot have one now.
    pub fn decline(&self, agent: AgentId, id: DispatchId, info: &DispatchInfo, reason: Decline) {
        if let Some(message) = self.first_decline(reason, "") {
            self.recorder.warn(reason.name(), message);
        }
        let record = record(id, agent, self.elapsed(), info, reason.into());
        let status = WindowStatus { outcome: record.outcome.clone(), passes_done: 0 };
        self.recorder.dispatch(record);
        self.policy.ended(info, &status);
    }
}

/// Of a dispatch that has no window.
fn record(id: DispatchId, agent: AgentId, start: Duration, info: &DispatchInfo, refusal: Refusal) -> DispatchRecord {
    DispatchRecord {
        id,
        agent,
        kernel: info.kernel.clone(),
        geometry: info.geometry,
        stream: info.stream,
        argument_bytes: info.arguments.size(),
        thread: thread::system_number(),
        window: None,
        outcome: Outcome::Declined { reason: refusal.reason, detail: refusal.detail },
        passes_asked: 0,
        passes_done: 0,
        divergence: None,
        audit: None,
        phases: Phases::default(),
        bytes: Bytes::default(),
        write_set: None,
        start,
        notes: Vec::new(),
    }
}
