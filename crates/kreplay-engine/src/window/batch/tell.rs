//! What is told of a batch window that is over.

use super::Batch;
use crate::engine::{Event, Readings, Refusal};
use crate::{Agent, Bytes, ClosingReason, DispatchRecord, Divergence, Outcome, Phases, WindowKind, WindowStatus};
use std::sync::Arc;

impl<A: Agent> Batch<A> {
    /// Tells recorder and policy, once nothing is held any more: of each dispatch, of its readings where there are any, and
    /// of the window.
    pub(super) fn tell(mut self, closing: ClosingReason, refusal: Option<Refusal>, readings: Option<Arc<Readings>>) {
        let engine = Arc::clone(&self.core.engine);
        let (outcome, passes_done) = match refusal {
            Some(Refusal { reason, detail }) => {
                if let Some(message) = engine.process.first_decline(reason, &detail) {
                    self.core.warnings.push((reason.name(), message));
                }
                (Outcome::Declined { reason, detail }, 0)
            }
            None if !self.records() => (Outcome::Counted, 1),
            None => (Outcome::Replayed, self.passes),
        };
        let mut events: Vec<Event> = self.core.warnings.drain(..).map(|(key, text)| Event::Warn(key, text)).collect();
        for index in 0..self.dispatches.len() as u32 {
            events.push(Event::Dispatch(Box::new(self.dispatch_record(index, &outcome, passes_done))));
        }
        events.extend(readings.map(Event::Readings));
        let operations = self.entries.iter().filter(|entry| entry.dispatch.is_none()).count() as u32;
        let dispatches = self.dispatches.len() as u32;
        let record = self.core.window_record(WindowKind::Batch, dispatches, operations, closing);
        events.push(Event::Window(Box::new(record)));
        for dispatch in &self.dispatches {
            let status = WindowStatus { outcome: outcome.clone(), passes_done };
            events.push(Event::Ended(Box::new(dispatch.info.clone()), status));
        }
        engine.tell(events);
    }

    /// The record of the dispatch at `index`. Times and bytes are the window's, so it has none.
    fn dispatch_record(&self, index: u32, outcome: &Outcome, passes_done: u32) -> DispatchRecord {
        let dispatch = &self.dispatches[index as usize];
        let info = &dispatch.info;
        let (divergence, mut notes) = self.divergence_of(index);
        // The window's write set goes with its first dispatch.
        let write_set = self.written.as_ref().filter(|_| index == 0).map(|written| {
            let total = written.ranges.len();
            notes.push(format!(
                "the write set is the whole window's; {} of its {total} ranges, the last, were born within the window",
                written.born
            ));
            written.ranges.as_slice().into()
        });
        DispatchRecord {
            id: dispatch.id,
            agent: self.core.engine.description.id,
            kernel: info.kernel.clone(),
            geometry: info.geometry,
            stream: info.stream,
            argument_bytes: info.arguments.size(),
            thread: dispatch.thread,
            window: Some(self.core.window),
            outcome: outcome.clone(),
            passes_asked: self.passes,
            passes_done,
            divergence,
            audit: self.core.audit.filter(|_| index == 0),
            phases: Phases::default(),
            bytes: Bytes::default(),
            write_set,
            start: dispatch.start,
            notes,
        }
    }

    /// The divergence of the window as the dispatch at `index` is told of it, and what else there is to say.
    fn divergence_of(&self, index: u32) -> (Option<Divergence>, Vec<String>) {
        let mut notes = self.core.notes.clone();
        let Some(divergence) = self.core.divergence.clone() else { return (None, notes) };
        let Some(found) = self.divergent else {
            notes.push("a dispatch of this window did other work in another pass; which one is not known".into());
            return (Some(divergence), notes);
        };
        let mine = self.entries.iter().position(|entry| entry.dispatch == Some(index));
        match mine {
            Some(mine) if mine == found => return (Some(divergence), notes),
            Some(mine) if mine > found => {
                notes.push(
                    "an earlier launch of this window does other work each time, and this one may read it".into(),
                );
            }
            _ => {}
        }
        (None, notes)
    }
}
