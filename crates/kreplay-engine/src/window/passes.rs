//! The passes before the program's own.

use super::open::{Method, Open, Stage};
use crate::engine::Looked;
use crate::lock::lock;
use crate::shadow::{first_marked, marked_bytes};
use crate::verify::Outputs;
use crate::{Agent, AgentError, ChunkMap, Divergence, Move, PassEnd, VerifyMode};

impl<A: Agent> Open<A> {
    /// See [`super::Window::run_until_last`].
    pub(super) fn run_until_last(&mut self) {
        if !matches!(self.stage, Stage::Opened) {
            return;
        }
        self.watch.skip();
        let done = match self.method {
            Method::None => self.begin_last(0),
            Method::Full | Method::Observed => self.replay(),
        };
        match done {
            Ok(()) => self.stage = Stage::HandedBack,
            Err(error) => self.give_up(&error),
        }
    }

    fn replay(&mut self) -> Result<(), AgentError> {
        let captured = self.capture();
        self.watch.lap(&mut self.dispatch.phases.capture);
        captured?;
        let mut pass = 0;
        loop {
            self.pass(pass)?;
            if pass == 0 {
                self.learn()?;
            }
            self.check(pass)?;
            let next = pass + 1;
            // The last pass is the program's own.
            if !self.proceed(pass) || next + 1 >= self.dispatch.asked {
                break;
            }
            self.restore()?;
            pass = next;
        }
        self.repair()?;
        self.begin_last(pass + 1)
    }

    /// One pass of ours, counted if it is to be.
    fn pass(&mut self, pass: u32) -> Result<(), AgentError> {
        self.begin_counting(pass);
        self.dirty = true;
        if let Some(work) = &self.dispatch.work {
            self.engine.agent.submit(work)?;
        }
        self.counting.after(0);
        self.counting.end();
        self.passes_done += 1;
        self.watch.lap(&mut self.dispatch.phases.passes);
        Ok(())
    }

    fn begin_counting(&mut self, pass: u32) {
        let counts = self.engine.process.policy.services(&self.dispatch.info, pass).counters;
        let planned = self.engine.plan.passes.get(pass as usize);
        if counts && planned.is_none() && self.engine.counters.is_some() {
            let planned = self.engine.plan.passes.len();
            self.notes.push(format!("pass {pass} ran uncounted: the plan has {planned} passes"));
        }
        self.counting.begin(pass, planned.filter(|_| counts));
        self.counting.before(0);
    }

    /// Begins the program's own pass. What was queued so far is done when this returns: the program's launch goes to a
    /// queue of its own.
    pub(super) fn begin_last(&mut self, pass: u32) -> Result<(), AgentError> {
        self.begin_counting(pass);
        if self.counting.running() {
            self.agent().settle(self.deadline())?;
        }
        self.watch.lap(&mut self.dispatch.phases.passes);
        Ok(())
    }

    fn proceed(&self, pass: u32) -> bool {
        let end = PassEnd { pass, divergent: self.divergence.is_some() };
        self.engine.process.policy.proceed(&self.dispatch.info, end)
    }

    /// Finds what pass 0 wrote.
    fn learn(&mut self) -> Result<(), AgentError> {
        self.refresh();
        let whole = self.dispatch.footprint.select(|tracked| self.method == Method::Full || !tracked.observed);
        for &index in &whole.index {
            self.restored.add_whole(index);
        }
        if self.method == Method::Observed {
            let observed = self.dispatch.footprint.select(|tracked| tracked.observed);
            if !observed.pairs.is_empty() {
                let ticket = self.engine.agent.compare(&observed.pairs, self.chunk())?;
                let maps = self.chunks(ticket, &observed)?;
                self.restored.add(&observed.index, &maps);
            }
            self.written = self.restored.clone();
            self.bytes.write_set = self.written.bytes(self.dispatch.footprint.all());
            self.audit_reach();
        }
        if self.engine.process.settings.verify != VerifyMode::Off && self.engine.description.capabilities.observe {
            let ranges = self.dispatch.footprint.ranges(&self.restored);
            self.outputs = Outputs::of(ranges.into_iter().map(|(_, range)| range).collect());
        }
        self.watch.lap(&mut self.dispatch.phases.compare);
        Ok(())
    }

    /// Looking only at what the arguments point into would have missed a write elsewhere.
    pub(super) fn audit_reach(&mut self) {
        let Looked::Audit(bases) = &self.dispatch.looked else { return };
        let regions = self.dispatch.footprint.all();
        let missed = |(index, tracked): &(usize, &crate::shadow::Tracked)| {
            !bases.contains(&tracked.range.base) && !self.restored.map(*index).is_clear()
        };
        let Some((_, tracked)) = regions.iter().enumerate().find(missed) else { return };
        let key = self.dispatch.info.kernel.key;
        if lock(&self.engine.reach).turn_off(key) {
            let (name, base) = (&self.dispatch.info.kernel.name, tracked.range.base);
            let message = format!(
                "{name} wrote memory at {base:#x}, which no argument points to; every region is looked at for it from now on"
            );
            self.notes.push(message.clone());
            self.warnings.push(("reach_off", message));
        }
    }

    /// Checks what a pass wrote: hashes now, answered later; with `--verify all` the rest of the footprint at once.
    fn check(&mut self, pass: u32) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        self.bytes.compared += self.outputs.hash(&*agent, pass, self.chunk())?;
        if self.engine.process.settings.verify == VerifyMode::All {
            if self.method == Method::Observed && pass > 0 {
                let observed = self.dispatch.footprint.select(|tracked| tracked.observed);
                let ticket = agent.compare(&observed.pairs, self.chunk())?;
                let maps = self.chunks(ticket, &observed)?;
                let escaped = self.escapes(&observed.index, &maps, Some(pass));
                self.diverged(escaped);
                self.restored.add(&observed.index, &maps);
            }
            self.answer_outputs()?;
        }
        self.watch.lap(&mut self.dispatch.phases.verify);
        Ok(())
    }

    /// Waits for the hashes asked for so far.
    pub(super) fn answer_outputs(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        let found = self.outputs.answer(&*agent, self.chunk(), self.deadline())?;
        self.diverged(found);
        Ok(())
    }

    /// What differs outside of what is put back, as a divergence.
    pub(super) fn escapes(&self, index: &[usize], maps: &[ChunkMap], pass: Option<u32>) -> Option<Divergence> {
        let regions = self.dispatch.footprint.all();
        let mut found: Option<Divergence> = None;
        for (index, map) in index.iter().zip(self.restored.beyond(index, maps)) {
            let region = regions[*index].range;
            let Some(range) = first_marked(region, &map, self.chunk()) else { continue };
            let bytes = marked_bytes(region, &map, self.chunk());
            match &mut found {
                None => found = Some(Divergence { pass, range, escaped: true, bytes }),
                Some(divergence) => divergence.bytes += bytes,
            }
        }
        found
    }

    /// Puts the snapshot back over the write set, queued ahead of the next pass.
    fn restore(&mut self) -> Result<(), AgentError> {
        self.refresh();
        if !self.engine.process.settings.skip_restore_for_tests {
            let ranges = self.dispatch.footprint.ranges(&self.restored);
            self.copy_back(&ranges)?;
        }
        self.watch.lap(&mut self.dispatch.phases.restore);
        Ok(())
    }

    /// Copies ranges back from the snapshot, in one call.
    pub(super) fn copy_back(&mut self, ranges: &[(usize, crate::Range)]) -> Result<(), AgentError> {
        if ranges.is_empty() {
            return Ok(());
        }
        let footprint = &self.dispatch.footprint;
        let moves: Vec<Move> = ranges.iter().map(|(index, range)| footprint.back(*index, *range)).collect();
        let (device, host) = footprint.by_tier(ranges);
        self.engine.agent.copy(&moves)?;
        self.bytes.restored_device += device;
        self.bytes.restored_host += host;
        Ok(())
    }
}
