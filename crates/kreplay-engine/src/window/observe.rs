//! What the passes wrote: the write set, and what differs from it.

use super::core::{Core, Method};
use super::look::Differing;
use crate::engine::Looked;
use crate::lock::lock;
use crate::shadow::{Tracked, first_marked, marked_bytes};
use crate::verify::Outputs;
use crate::{Agent, AgentError, AuditKind, Divergence, KernelInfo, VerifyMode};

impl<A: Agent> Core<A> {
    /// Finds what pass 0 wrote.
    pub(super) fn learn(&mut self) -> Result<(), AgentError> {
        self.refresh();
        let all = self.footprint.select(|_| true);
        if self.method == Method::Full {
            all.index.iter().for_each(|index| self.restored.add_whole(*index));
        } else {
            let asked = self.ask(all, None)?;
            let differing = self.answer(asked)?;
            self.restored.add(&differing.index, &differing.maps);
            self.bytes.write_set = self.restored.bytes(self.footprint.all());
            // With its runs, which were looked for just now.
            self.written = self.restored.clone();
        }
        if self.engine.process.settings.verify != VerifyMode::Off && self.engine.description.capabilities.observe {
            let ranges = self.footprint.ranges(&self.restored);
            self.outputs = Outputs::of(ranges.into_iter().map(|(_, range)| range).collect());
        }
        self.lap(|phases| &mut phases.compare);
        Ok(())
    }

    /// Looking only at what the arguments point into would have missed a write elsewhere.
    pub(super) fn audit_reach(&mut self, kernel: &KernelInfo) {
        let Looked::Audit(bases) = &self.looked else { return };
        let regions = self.footprint.all();
        let missed = |(index, tracked): &(usize, &Tracked)| {
            !bases.contains(&tracked.range.base) && !self.restored.map(*index).is_clear()
        };
        let missed: Vec<(usize, &Tracked)> = regions.iter().enumerate().filter(missed).collect();
        let bytes_of =
            |(index, tracked): &(usize, &Tracked)| marked_bytes(tracked.range, self.restored.map(*index), self.chunk());
        let bytes = missed.iter().map(bytes_of).sum();
        let first = missed.first().map(|(_, tracked)| tracked.range.base);
        self.audited(AuditKind::Reach, bytes);
        let Some(base) = first else { return };
        if lock(&self.engine.reach).turn_off(kernel.key) {
            let name = &kernel.name;
            let message = format!(
                "{name} wrote memory at {base:#x}, which no argument points to; every region is looked at for it from now on"
            );
            self.notes.push(message.clone());
            self.warnings.push(("reach_off", message));
        }
    }

    /// Checks what a pass wrote: hashes now, answered later; with `--verify all` the rest of the footprint at once.
    pub(super) fn check(&mut self, pass: u32) -> Result<(), AgentError> {
        self.refresh();
        let agent = self.agent();
        self.bytes.compared += self.outputs.hash(&*agent, pass, self.chunk())?;
        if self.engine.process.settings.verify == VerifyMode::All {
            if self.method == Method::Observed && pass > 0 {
                self.find_escapes(pass)?;
            }
            self.answer_outputs()?;
        }
        self.lap(|phases| &mut phases.verify);
        Ok(())
    }

    /// Looks at the whole footprint for what pass `pass` wrote outside the write set; the next restore puts it back.
    pub(super) fn find_escapes(&mut self, pass: u32) -> Result<(), AgentError> {
        let asked = self.ask(self.footprint.select(|_| true), None)?;
        let differing = self.answer(asked)?;
        let escaped = self.escapes(&differing, Some(pass));
        self.diverged(escaped);
        self.restored.add(&differing.index, &differing.maps);
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
    pub(super) fn escapes(&self, differing: &Differing, pass: Option<u32>) -> Option<Divergence> {
        let regions = self.footprint.all();
        let mut found: Option<Divergence> = None;
        let Differing { index, maps } = differing;
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
}
