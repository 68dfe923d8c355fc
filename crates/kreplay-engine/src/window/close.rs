//! The end of a kernel window: the program's own pass, the commit, the records.

use super::LastPass;
use super::core::Method;
use super::open::{Open, Stage};
use crate::engine::{Event, Readings, Refusal};
use crate::{Agent, ClosingReason, Decline, DispatchRecord, Outcome, WindowKind, WindowStatus};
use std::sync::Arc;

impl<A: Agent> Open<A> {
    /// See [`super::Window::close`].
    pub(super) fn close(mut self, last: LastPass) -> WindowStatus {
        // A launch that nobody prepared for was the program's own all the same.
        if matches!(self.stage, Stage::Opened) {
            self.counting.abandon();
            self.stage = Stage::GivenUp(Refusal::new(Decline::PassFailed, "the window was closed before it was run"));
        }
        self.watch.skip();
        if let Stage::HandedBack = self.stage {
            match last {
                LastPass::Submitted => self.end_last(),
                LastPass::Failed(message) => self.last_not_run(&message),
            }
        }
        self.finish()
    }

    /// Waits for the program's own pass, checks it and commits.
    fn end_last(&mut self) {
        let drained = self.agent().drain(self.deadline());
        if let Err(error) = drained {
            return self.give_up_last(&error);
        }
        self.counting.after(0);
        self.counting.end();
        self.passes_done += 1;
        self.lap(|phases| &mut phases.passes);
        if self.method == Method::None {
            return;
        }
        let last = self.passes_done - 1;
        match self.commit(last) {
            Ok(()) => self.in_step = true,
            Err(error) => self.leave_unchecked(&error),
        }
    }

    /// Lets go of the agent and tells what happened. Every exit ends here.
    pub(super) fn finish(mut self) -> WindowStatus {
        let engine = Arc::clone(&self.engine);
        let (outcome, closing) = match std::mem::replace(&mut self.stage, Stage::HandedBack) {
            Stage::GivenUp(Refusal { reason, detail }) => {
                if let Some(message) = engine.process.first_decline(reason, &detail) {
                    self.warnings.push((reason.name(), message));
                }
                (Outcome::Declined { reason, detail }, ClosingReason::Failed)
            }
            _ if self.method == Method::None => (Outcome::Counted, ClosingReason::Done),
            _ => (Outcome::Replayed, ClosingReason::Done),
        };
        let readings = Readings::new(vec![self.dispatch.id]);
        let counted = self.counting.collect(&readings);
        self.release();
        let status = WindowStatus { outcome, passes_done: self.passes_done };
        let mut events: Vec<Event> = self.warnings.drain(..).map(|(key, text)| Event::Warn(key, text)).collect();
        events.push(Event::Dispatch(Box::new(self.dispatch_record(&status.outcome))));
        if counted {
            events.push(Event::Readings(readings));
        }
        events.push(Event::Window(Box::new(self.window_record(WindowKind::Kernel, 1, 0, closing))));
        events.push(Event::Ended(Box::new(self.dispatch.info.clone()), status.clone()));
        engine.tell(events);
        status
    }

    fn dispatch_record(&mut self, outcome: &Outcome) -> DispatchRecord {
        let keep = self.engine.process.settings.record_write_sets && self.method == Method::Observed;
        let regions = self.footprint.all();
        let write_set = keep.then(|| self.written.ranges(regions).map(|(_, range)| range).collect());
        let info = &self.dispatch.info;
        DispatchRecord {
            id: self.dispatch.id,
            agent: self.engine.description.id,
            kernel: info.kernel.clone(),
            geometry: info.geometry,
            stream: info.stream,
            argument_bytes: info.arguments.size(),
            thread: self.dispatch.thread,
            window: Some(self.window),
            outcome: outcome.clone(),
            passes_asked: self.dispatch.asked,
            passes_done: self.passes_done,
            divergence: self.divergence.clone(),
            audit: self.audit,
            phases: self.phases,
            bytes: self.bytes,
            write_set,
            start: self.dispatch.start,
            notes: std::mem::take(&mut self.notes),
        }
    }
}
