//! The end of a window: the program's own pass, the commit, the records.

use super::open::{Method, Open, Stage};
use super::{LastPass, counting::Counting};
use crate::engine::{Belief, Event, Readings, Refusal};
use crate::lock::lock;
use crate::shadow::marked_bytes;
use crate::{
    Agent, AgentError, ClosingReason, Decline, DispatchRecord, Move, Outcome, ShadowMode, Towards, VerifyMode,
    WindowKind, WindowRecord, WindowStatus,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
                LastPass::Failed(message) => {
                    // Nothing ran: memory still is the snapshot.
                    self.counting.abandon();
                    self.in_step = true;
                    let detail = format!("the program's own launch failed: {message}");
                    self.stage = Stage::GivenUp(Refusal::new(Decline::PassFailed, detail));
                }
            }
        }
        self.finish()
    }

    /// Waits for the program's own pass, checks it and commits.
    fn end_last(&mut self) {
        let drained = self.agent().drain(self.deadline());
        if let Err(error) = drained {
            self.counting.abandon();
            if matches!(error, AgentError::Deadline { .. }) {
                lock(&self.engine.refused).insert(self.dispatch.info.kernel.key);
            }
            let refusal = self.engine.refuse(Decline::PassFailed, &error);
            self.stuck = matches!(error, AgentError::Lost(_));
            self.stage = Stage::GivenUp(refusal);
            return;
        }
        self.counting.after(0);
        self.counting.end();
        self.passes_done += 1;
        self.watch.lap(&mut self.dispatch.phases.passes);
        if self.method == Method::None {
            return;
        }
        match self.commit() {
            Ok(()) => self.in_step = true,
            Err(error) => {
                // The program has its result; only the check and the shadow are lost.
                match if let AgentError::Lost(_) = error { Err(error.clone()) } else { self.settle_all() } {
                    Ok(()) => {}
                    Err(AgentError::Deadline { .. }) => {
                        self.engine.unsettled.store(true, Ordering::Relaxed);
                        self.stuck = true;
                    }
                    Err(_) => {
                        self.engine.lost.store(true, Ordering::Relaxed);
                        self.stuck = true;
                    }
                }
                self.notes.push(format!("the last pass could not be checked: {error}"));
            }
        }
    }

    /// Checks the last pass and brings the shadow up to date.
    fn commit(&mut self) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        let last = self.passes_done - 1;
        self.bytes.compared += self.outputs.hash(&*agent, last, self.chunk())?;
        if self.method == Method::Observed {
            let believed = self.belief == Belief::Shadow && self.engine.process.settings.verify != VerifyMode::All;
            let before = self.divergence.is_some();
            let whole = self.dispatch.footprint.select(|tracked| tracked.observed && !(believed && tracked.seen));
            self.commit_whole(&whole, last)?;
            if believed {
                self.answer_outputs()?;
                let seen = self.dispatch.footprint.select(|tracked| tracked.observed && tracked.seen);
                if !before && self.divergence.is_some() {
                    // The last pass wrote something else: its write set is not known.
                    self.commit_whole(&seen, last)?;
                } else {
                    self.commit_write_set(&seen.index)?;
                }
            }
        }
        self.answer_outputs()?;
        self.watch.lap(&mut self.dispatch.phases.verify);
        agent.settle(self.deadline())?;
        self.watch.lap(&mut self.dispatch.phases.commit);
        Ok(())
    }

    fn commit_whole(&mut self, selected: &crate::shadow::Selected, last: u32) -> Result<(), AgentError> {
        if selected.pairs.is_empty() {
            return Ok(());
        }
        let ticket = self.engine.agent.synchronise(&selected.pairs, self.chunk(), Towards::Shadow)?;
        self.answer_outputs()?;
        let maps = self.chunks(ticket, selected)?;
        let escaped = self.escapes(&selected.index, &maps, Some(last));
        if escaped.is_some() && self.belief == Belief::Audit {
            self.distrust("the last pass wrote outside of what pass 0 wrote".into());
        }
        self.diverged(escaped);
        for (index, map) in selected.index.iter().zip(&maps) {
            let tracked = &self.dispatch.footprint.all()[*index];
            let (tier, bytes) = (tracked.tier, marked_bytes(tracked.range, map, self.chunk()));
            self.count_captured(tier, bytes);
        }
        self.watch.lap(&mut self.dispatch.phases.commit);
        Ok(())
    }

    fn commit_write_set(&mut self, index: &[usize]) -> Result<(), AgentError> {
        let footprint = &self.dispatch.footprint;
        let mut ranges = footprint.ranges(&self.restored);
        ranges.retain(|(region, _)| index.binary_search(region).is_ok());
        let moves: Vec<Move> = ranges.iter().map(|(index, range)| footprint.out(*index, *range)).collect();
        let (device, host) = footprint.by_tier(&ranges);
        if !moves.is_empty() {
            self.engine.agent.copy(&moves)?;
        }
        self.bytes.captured_device += device;
        self.bytes.captured_host += host;
        self.watch.lap(&mut self.dispatch.phases.commit);
        Ok(())
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
        if engine.process.settings.shadow == ShadowMode::Trusted {
            if self.in_step {
                engine.stale.in_step(&self.dispatch.footprint);
            } else {
                engine.stale.everything();
            }
        }
        let agent = engine.description.id;
        self.bytes.host_high_water = engine.process.staging.high_water(agent);
        let mut shadow = lock(&engine.shadow);
        self.bytes.device_held = shadow.device_held();
        if !self.stuck {
            let keep_host = engine.description.capabilities.observe_host && self.method == Method::Observed;
            shadow.window_ended(&self.dispatch.footprint, self.in_step, keep_host);
        }
        drop(shadow);
        let readings = Readings::new(vec![self.dispatch.id]);
        let counted = Counting::collect(&mut self.counting, &readings);
        self.notes.append(&mut self.counting.take_notes());
        self.watch.lap(&mut self.dispatch.phases.commit);
        drop(self.alone.take());
        let status = WindowStatus { outcome, passes_done: self.passes_done };
        let mut events: Vec<Event> = self.warnings.drain(..).map(|(key, text)| Event::Warn(key, text)).collect();
        events.push(Event::Dispatch(Box::new(self.dispatch_record(&status.outcome))));
        if counted {
            events.push(Event::Readings(readings));
        }
        events.push(Event::Window(Box::new(self.window_record(closing))));
        events.push(Event::Ended(Box::new(self.dispatch.info.clone()), status.clone()));
        engine.tell(events);
        status
    }

    fn dispatch_record(&mut self, outcome: &Outcome) -> DispatchRecord {
        let keep = self.engine.process.settings.record_write_sets && self.method == Method::Observed;
        let regions = self.dispatch.footprint.all();
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
            phases: self.dispatch.phases,
            bytes: self.bytes,
            write_set,
            start: self.dispatch.start,
            notes: std::mem::take(&mut self.notes),
        }
    }

    fn window_record(&self, closing: ClosingReason) -> WindowRecord {
        WindowRecord {
            id: self.window,
            agent: self.engine.description.id,
            kind: WindowKind::Kernel,
            dispatches: 1,
            operations: 0,
            closing,
            phases: self.dispatch.phases,
            bytes: self.bytes,
        }
    }
}
