//! The engine's recorder: numbers for names, then messages.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kreplay_engine as engine;
use kreplay_engine::{AgentId, AgentRecord, DispatchId, DispatchRecord, Outcome, Recorder, WindowRecord};
use kreplay_protocol::{FromLibrary, LogLevel, Note, Reading, Readings, bounded_text};

use crate::session::Shared;
use crate::{Backend, convert, log};

/// Most readings of one message, and most dispatches of a note; more go into several.
const READINGS: usize = 4096;

/// Passes what the engine reports to the command.
pub struct SessionRecorder {
    shared: Arc<Shared>,
    backend: Backend,
    /// From the session's start to the making of this recorder, which is when the engine's clock begins.
    epoch: Duration,
}

impl SessionRecorder {
    pub(crate) fn new(shared: Arc<Shared>, backend: Backend) -> Self {
        let epoch = Instant::now().saturating_duration_since(shared.start);
        Self { shared, backend, epoch }
    }

    fn send_agent(&self, record: &AgentRecord) {
        let Some(connection) = self.shared.connection() else { return };
        let mut told = connection.told();
        let send = |message: FromLibrary| connection.send(&message);
        let memory = record.memory.map(|memory| memory.total);
        send(FromLibrary::Agent(convert::agent(&record.description, self.backend.name(), memory)));
        let number = told.interned.plan();
        let plan = convert::plan(number, record.description.id, &record.plan, &mut told.interned, send);
        send(FromLibrary::Plan(plan));
        told.interned.agent_plans.insert(record.description.id.0, number);
        told.agents.push(record.clone());
    }
}

impl Recorder for SessionRecorder {
    fn agent(&self, agent: AgentRecord) {
        self.send_agent(&agent);
    }

    fn dispatch(&self, record: DispatchRecord) {
        let Some(connection) = self.shared.connection() else { return };
        let now = Instant::now().saturating_duration_since(self.shared.start);
        if self.shared.settings.log >= LogLevel::Info {
            log::dispatch_line(&record);
        }
        let mut told = connection.told();
        let kernel = told.interned.kernel(&record.kernel.name, |message| connection.send(&message));
        let plan = told.interned.agent_plans.get(&record.agent.0).copied();
        told.count_dispatch(&record.outcome);
        if let Outcome::Declined { reason, .. } = record.outcome {
            let first = connection.warn(&mut told, reason.name(), reason.explanation());
            if first && self.shared.settings.log >= LogLevel::Warn {
                log::line(&format!("{}: {}", reason.name(), reason.explanation()));
            }
        }
        let message = convert::dispatch(&record, kernel, plan, self.epoch, now);
        connection.send(&FromLibrary::Dispatch(Box::new(message)));
    }

    fn window(&self, record: WindowRecord) {
        let Some(connection) = self.shared.connection() else { return };
        connection.told().count_window(record.kind);
        connection.send(&FromLibrary::Window(convert::window(&record)));
    }

    fn readings(&self, dispatch: DispatchId, readings: Vec<engine::Reading>) {
        let Some(connection) = self.shared.connection() else { return };
        let mut told = connection.told();
        // Readings of one pass stand together in one message; within it the order is kept.
        let mut rest = readings.as_slice();
        while let Some(first) = rest.first() {
            let len = rest.iter().take(READINGS).take_while(|reading| reading.pass == first.pass).count();
            let (these, others) = rest.split_at(len);
            rest = others;
            let values = these
                .iter()
                .map(|reading| Reading {
                    counter: told.interned.read(reading, |message| connection.send(&message)),
                    instance: 0,
                    value: convert::value(reading.value),
                    derived: reading.derived,
                    bound: reading.bound,
                })
                .collect();
            connection.send(&FromLibrary::Readings(Readings { dispatch: dispatch.0, pass: Some(first.pass), values }));
        }
    }

    fn lost(&self, dispatches: &[DispatchId], why: String) {
        let Some(connection) = self.shared.connection() else { return };
        let text = bounded_text(&why);
        for dispatches in dispatches.chunks(READINGS) {
            let dispatches = dispatches.iter().map(|dispatch| dispatch.0).collect();
            connection.send(&FromLibrary::Note(Note { dispatches, text: text.clone() }));
        }
    }

    fn not_selected(&self, _agent: AgentId) {
        self.shared.root.not_selected.fetch_add(1, Ordering::Relaxed);
    }

    fn warn(&self, key: &'static str, message: String) {
        let Some(connection) = self.shared.connection() else { return };
        let first = connection.warn(&mut connection.told(), key, &message);
        if first && self.shared.settings.log >= LogLevel::Warn {
            log::line(&format!("{key}: {message}"));
        }
    }
}
