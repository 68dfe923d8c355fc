//! The snapshot: the shadow is made equal to memory.

use super::core::{Core, Method};
use super::look::Differing;
use crate::engine::Belief;
use crate::lock::lock;
use crate::shadow::{Selected, Tracked, WriteSet, marked_bytes};
use crate::{Agent, AgentError, Audit, AuditKind, Range, ShadowMode, Towards};

impl<A: Agent> Core<A> {
    /// Takes the snapshot and waits until it is whole.
    pub(super) fn capture(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        self.refresh();
        let everything = self.take_stale();
        let (full, believed) = (self.method == Method::Full, self.belief == Belief::Shadow && !everything);
        let whole = |tracked: &Tracked| full || !tracked.known;
        let copied = self.footprint.select(whole);
        let compared = self.footprint.select(|tracked| !(whole(tracked) || believed && tracked.seen));
        let trusted = self.footprint.select(|tracked| !whole(tracked) && believed && tracked.seen);
        let mut ranges = self.whole_ranges(&copied);
        for &index in &trusted.index {
            ranges.extend(self.footprint.all()[index].stale.iter().map(|range| (index, *range)));
        }
        let looks = !compared.pairs.is_empty();
        self.copy_out(&ranges)?;
        if looks {
            let asked = self.ask(compared, Some(Towards::Shadow))?;
            let differing = self.answer(asked)?;
            self.count_differing(&differing, Towards::Shadow);
            if self.belief == Belief::Audit && !everything {
                self.audit_capture(&differing);
            }
        }
        // The snapshot must be whole before anything runs. Where it was so before, nothing is waited for.
        if !ranges.is_empty() || looks {
            agent.settle(self.deadline())?;
        }
        self.captured = true;
        Ok(())
    }

    /// What was written since the shadow was in step goes to the regions, which are looked at next. Returns whether all of
    /// memory may have been written.
    pub(super) fn take_stale(&mut self) -> bool {
        let trusted = self.engine.process.settings.shadow == ShadowMode::Trusted;
        let everything = trusted && self.engine.stale.take(&mut self.footprint);
        if everything {
            // Regions that this window does not look at are not brought in step by it.
            lock(&self.engine.shadow).distrust();
        }
        everything
    }

    /// Believing the shadow would have missed what differs outside the stale ranges.
    fn audit_capture(&mut self, differing: &Differing) {
        let regions = self.footprint.all();
        let mut expected = WriteSet::empty(regions, self.chunk());
        for (index, tracked) in regions.iter().enumerate() {
            for range in &tracked.stale {
                expected.add_range(index, tracked.range.base, *range);
            }
        }
        let beyond = expected.beyond(&differing.index, &differing.maps);
        let seen = differing.index.iter().zip(&beyond).filter(|(index, _)| regions[**index].seen);
        let bytes = seen.clone().map(|(index, map)| marked_bytes(regions[*index].range, map, self.chunk())).sum();
        let surprise = seen.clone().find(|(_, map)| !map.is_clear()).map(|(index, _)| regions[*index].range.base);
        self.audited(AuditKind::Shadow, bytes);
        if let Some(base) = surprise {
            self.distrust(format!("memory at {base:#x} was written between two windows by nobody that was seen"));
        }
    }

    /// A full look was taken; so many bytes would have been missed without.
    pub(super) fn audited(&mut self, kind: AuditKind, surprise_bytes: u64) {
        if self.audit.is_none_or(|audit| audit.surprise_bytes == 0) {
            self.audit = Some(Audit { kind, surprise_bytes });
        }
    }

    /// The shadow is not believed any more in this run.
    pub(super) fn distrust(&mut self, why: String) {
        if lock(&self.engine.trust).turn_off() {
            let message = format!("{why}; the shadow is checked whole from now on");
            self.notes.push(message.clone());
            self.warnings.push(("trust_off", message));
        }
    }

    /// Copies ranges of memory to the snapshot, in one call.
    pub(super) fn copy_out(&mut self, ranges: &[(usize, Range)]) -> Result<(), AgentError> {
        self.copy_ranges(ranges, Towards::Shadow)?;
        self.renew_digests(ranges)
    }

    /// The whole of these regions.
    pub(super) fn whole_ranges(&self, selected: &Selected) -> Vec<(usize, Range)> {
        selected.index.iter().map(|&index| (index, self.footprint.all()[index].range)).collect()
    }

    pub(super) fn chunk(&self) -> crate::Chunk {
        self.engine.process.settings.chunk
    }
}
