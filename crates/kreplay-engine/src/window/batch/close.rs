//! The end of a batch window: the replays, the post image, the records.

use super::length::WindowCost;
use super::post::Post;
use super::{Batch, Written};
use crate::engine::{Belief, Event, Readings, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::verify::Outputs;
use crate::window::core::Core;
use crate::{
    Agent, AgentError, Bytes, ClosingReason, Decline, DispatchRecord, Move, Outcome, Phases, Range, Towards,
    VerifyMode, WindowKind, WindowStatus,
};
use std::collections::HashSet;
use std::time::Instant;

impl<A: Agent> Batch<A> {
    /// Replays what was recorded and tells what happened. The gate is held alone, the agent is drained.
    pub(crate) fn close(mut self, alone: Alone, reason: ClosingReason) {
        self.core.alone = Some(alone);
        self.core.watch.skip();
        if self.first_counted {
            self.core.counting.end();
        }
        let refusal = match self.spoiled.take() {
            Some(refusal) => {
                self.core.counting.abandon();
                Some(refusal)
            }
            None if self.records() => self.replay().err(),
            None => None,
        };
        self.finish(reason, refusal);
    }

    /// It cannot be replayed, and the agent cannot be had alone.
    pub(crate) fn abandon(mut self, refusal: Refusal) {
        self.core.counting.abandon();
        self.finish(ClosingReason::Failed, Some(refusal));
    }

    fn replay(&mut self) -> Result<(), Refusal> {
        let engine = self.core.engine.clone();
        let refuse = |core: &mut Core<A>, reason, error: &AgentError| {
            core.counting.abandon();
            let refusal = engine.refuse(reason, error);
            core.leave_settled();
            refusal
        };
        self.core.refresh();
        // Before anything looks at memory that the program has given back.
        if let Err(error) = engine.agent.kept() {
            return Err(refuse(&mut self.core, Decline::PassFailed, &error));
        }
        if let Err(error) = self.core.learn() {
            return Err(refuse(&mut self.core, Decline::PassFailed, &error));
        }
        let (ranges, born) = self.changed();
        if engine.process.settings.record_write_sets {
            self.written = Some(Written { ranges: ranges.clone(), born });
        }
        let post = match Post::take(&engine, &ranges) {
            Ok(post) => post,
            Err(error) => {
                let reason = match error {
                    AgentError::Exhausted { .. } => Decline::NoBacking,
                    _ => Decline::PassFailed,
                };
                return Err(refuse(&mut self.core, reason, &error));
            }
        };
        // As with the snapshot: nothing runs before the image is whole. Until then memory is what pass 0 left. The room for
        // the image may have cost memory that the program has given back.
        if let Err(error) = engine.agent.settle(self.core.deadline()).and_then(|()| engine.agent.kept()) {
            let refusal = refuse(&mut self.core, Decline::PassFailed, &error);
            if self.core.stuck {
                post.leak()
            } else {
                post.free(&engine)
            }
            return Err(refusal);
        }
        self.core.lap(|phases| &mut phases.capture);
        let done = self.run_passes(&ranges).and_then(|()| self.restore_post(&post));
        match done {
            Ok(()) => {
                self.core.in_step = !self.core.engine.process.settings.skip_restore_for_tests;
                post.free(&engine);
                Ok(())
            }
            Err(error) => Err(self.give_up(post, &error)),
        }
    }

    /// What the window wrote, as ranges of memory: the write set, and then all of what was born within it; and how many
    /// of the ranges are that.
    fn changed(&self) -> (Vec<Range>, usize) {
        let core = &self.core;
        let written = core.footprint.ranges(&core.restored).into_iter().map(|(_, range)| range);
        let known: HashSet<(u64, u64)> = core
            .footprint
            .all()
            .iter()
            .filter(|tracked| tracked.live)
            .map(|tracked| (tracked.range.base, tracked.range.bytes))
            .collect();
        let inventory = lock(&core.engine.inventory);
        let captured = inventory.captured_in_batch().map(|live| live.region.range);
        let born = captured.filter(|range| !known.contains(&(range.base, range.bytes)));
        let mut ranges: Vec<Range> = written.collect();
        let before = ranges.len();
        ranges.extend(born);
        let born = ranges.len() - before;
        (ranges, born)
    }

    /// Passes after pass 0.
    fn run_passes(&mut self, ranges: &[Range]) -> Result<(), AgentError> {
        let agent = self.core.agent();
        let settings = &self.core.engine.process.settings;
        let (chunk, verify, skip) = (settings.chunk, settings.verify, settings.skip_restore_for_tests);
        if verify != VerifyMode::Off {
            self.core.outputs = Outputs::of(ranges.to_vec());
        }
        self.core.bytes.compared += self.core.outputs.hash(&*agent, 0, chunk)?;
        self.core.answer_outputs()?;
        self.core.lap(|phases| &mut phases.verify);
        self.core.counting.replays(u32::try_from(self.room_taken()).unwrap_or(u32::MAX));
        let first = u32::from(self.first_counted);
        for (run, planned) in (1..).zip(first..self.passes) {
            self.core.dirty = true;
            if !skip {
                let ranges = self.core.footprint.ranges(&self.core.restored);
                self.core.copy_back(&ranges)?;
            }
            self.core.lap(|phases| &mut phases.restore);
            if let Some(dispatch) = self.dispatches.first() {
                self.core.begin_counting(&dispatch.info, planned);
            }
            let start = Instant::now();
            for entry in &self.entries {
                if let Some(index) = entry.dispatch {
                    self.core.counting.before(index);
                }
                agent.submit(&entry.work)?;
                if let Some(index) = entry.dispatch {
                    self.core.counting.after(index);
                }
            }
            // Each pass has a deadline of its own, and its time is told from the counters' and the checks'.
            agent.settle(self.core.deadline())?;
            self.replayed += start.elapsed();
            self.core.counting.end();
            self.core.lap(|phases| &mut phases.passes);
            self.core.bytes.compared += self.core.outputs.hash(&*agent, run, chunk)?;
            if verify == VerifyMode::All {
                self.core.find_escapes(run)?;
            }
            self.core.answer_outputs()?;
            self.core.lap(|phases| &mut phases.verify);
        }
        if verify == VerifyMode::All && self.core.divergence.is_some() && self.core.dirty && !skip {
            // With what escaped, as far as it was inside regions that were there at the start.
            let restored = self.core.footprint.ranges(&self.core.restored).into_iter().map(|(_, range)| range);
            let born = ranges.iter().copied().filter(|range| !self.core.footprint.holds(*range));
            let ranges: Vec<Range> = restored.chain(born).collect();
            self.divergent = self.first_divergent(&ranges)?;
        }
        Ok(())
    }

    /// Memory and shadow become what pass 0 left.
    fn restore_post(&mut self, post: &Post) -> Result<(), AgentError> {
        let agent = self.core.agent();
        let core = &mut self.core;
        if core.engine.process.settings.skip_restore_for_tests {
            return agent.settle(core.deadline());
        }
        let believed = core.belief == Belief::Shadow;
        let observed = core.footprint.select(|tracked| tracked.observed && !(believed && tracked.seen));
        if core.dirty && !observed.pairs.is_empty() {
            let ticket = agent.synchronise(&observed.pairs, core.chunk(), Towards::Memory)?;
            core.answer_outputs()?;
            let maps = core.chunks(ticket, &observed)?;
            let escaped = core.escapes(&observed.index, &maps, None);
            if escaped.is_some() && core.belief == Belief::Audit {
                core.distrust("a pass wrote outside of what pass 0 wrote".into());
            }
            core.diverged(escaped);
        }
        core.answer_outputs()?;
        core.lap(|phases| &mut phases.verify);
        let back = post.back(|_| true);
        // The shadow of what was born within the window comes with its first own window.
        let shadow: Vec<Move> = core
            .footprint
            .ranges(&core.restored)
            .into_iter()
            .filter(|(index, _)| core.footprint.all()[*index].observed)
            .map(|(index, range)| core.footprint.out(index, range))
            .collect();
        let bytes: u64 = back.iter().map(|each| each.bytes).sum();
        if !back.is_empty() {
            agent.copy(&back)?;
            core.bytes.restored_device += bytes;
        }
        if !shadow.is_empty() {
            agent.copy(&shadow)?;
            core.bytes.captured_device += shadow.iter().map(|each| each.bytes).sum::<u64>();
        }
        agent.settle(core.deadline())?;
        core.dirty = false;
        core.lap(|phases| &mut phases.commit);
        Ok(())
    }

    /// A pass failed: memory becomes what pass 0 left all the same.
    fn give_up(&mut self, post: Post, error: &AgentError) -> Refusal {
        let engine = self.core.engine.clone();
        self.core.counting.abandon();
        let mut refusal = engine.refuse(Decline::PassFailed, error);
        if matches!(error, AgentError::Deadline { .. }) {
            let mut refused = lock(&engine.refused);
            refused.extend(self.dispatches.iter().map(|dispatch| dispatch.info.kernel.key));
        }
        if matches!(error, AgentError::Lost(_)) {
            self.core.stuck = true;
            post.leak();
            return refusal;
        }
        self.core.leave_settled();
        if self.core.stuck {
            post.leak();
            return refusal;
        }
        let put_back = self.core.put_back().and_then(|()| {
            let back = post.back(|_| true);
            if !back.is_empty() {
                engine.agent.copy(&back).or_else(|_| engine.agent.copy(&back))?;
            }
            self.core.settle_all()
        });
        match put_back {
            Ok(()) => post.free(&engine),
            Err(error) => {
                self.core.stuck = true;
                post.leak();
                if matches!(error, AgentError::Deadline { .. }) {
                    engine.unsettled.store(true, std::sync::atomic::Ordering::Relaxed);
                } else {
                    engine.lost.store(true, std::sync::atomic::Ordering::Relaxed);
                    refusal = Refusal::new(Decline::AgentLost, format!("memory could not be put back: {error}"));
                }
            }
        }
        self.core.lap(|phases| &mut phases.restore);
        refusal
    }

    /// What it cost, for the length of the next.
    fn cost(&self) -> WindowCost {
        let Phases { capture, compare, restore, verify, commit, .. } = self.core.phases;
        WindowCost {
            dispatches: self.dispatches.len() as u32,
            switches: self.core.counting.switches().to_vec(),
            memory: capture + compare + restore + verify + commit,
            run: if self.records() { self.replayed } else { self.opened.elapsed() },
        }
    }

    fn finish(mut self, reason: ClosingReason, refusal: Option<Refusal>) {
        let engine = self.core.engine.clone();
        let readings = Readings::new(self.dispatches.iter().map(|dispatch| dispatch.id).collect());
        if refusal.is_none() {
            lock(&engine.length).learn(&self.cost());
        }
        let counted = self.core.counting.collect(&readings);
        self.end_lingering();
        self.core.release();
        // What the program freed within the window goes now; these calls come back as events of their own.
        for free in self.frees.drain(..) {
            free();
        }
        let closing = if refusal.is_some() { ClosingReason::Failed } else { reason };
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
        if counted {
            events.push(Event::Readings(readings));
        }
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

    /// Regions that the program has freed within the window are gone for good, before another window can open.
    fn end_lingering(&self) {
        let engine = &self.core.engine;
        let gone = lock(&engine.inventory).end_lingering();
        if gone.is_empty() {
            return;
        }
        engine.inventory_changes.fetch_add(1, std::sync::atomic::Ordering::Release);
        let mut shadow = lock(&engine.shadow);
        gone.iter().for_each(|region| shadow.region_gone(region));
    }

    /// The divergence of the window as the dispatch at `index` is told of it, and what else there is to say.
    fn divergence_of(&self, index: u32) -> (Option<crate::Divergence>, Vec<String>) {
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
            phases: Phases::default(),
            bytes: Bytes::default(),
            write_set,
            start: dispatch.start,
            notes,
        }
    }
}
