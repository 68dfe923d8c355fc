//! The snapshot: the shadow is made equal to memory.

use super::core::{Core, Method};
use crate::engine::Belief;
use crate::lock::lock;
use crate::shadow::{Selected, Tracked, WriteSet, marked_bytes};
use crate::verify::wrong_answer;
use crate::{Agent, AgentError, Answer, ChunkMap, Move, Pair, Range, ShadowMode, Ticket, Towards};

impl<A: Agent> Core<A> {
    /// Takes the snapshot and waits until it is whole.
    pub(super) fn capture(&mut self) -> Result<(), AgentError> {
        let agent = self.agent();
        self.refresh();
        let trusted = self.engine.process.settings.shadow == ShadowMode::Trusted;
        let everything = trusted && self.engine.stale.take(&mut self.footprint);
        if everything {
            // Regions that this window does not look at are not brought in step by it.
            lock(&self.engine.shadow).distrust();
        }
        let (full, believed) = (self.method == Method::Full, self.belief == Belief::Shadow && !everything);
        let whole = |tracked: &Tracked| full || !tracked.observed || !tracked.known;
        let copied = self.footprint.select(whole);
        let compared = self.footprint.select(|tracked| !(whole(tracked) || believed && tracked.seen));
        let trusted = self.footprint.select(|tracked| !whole(tracked) && believed && tracked.seen);
        let mut moves: Vec<Move> = copied.pairs.iter().map(|pair| outwards(*pair)).collect();
        for &index in &trusted.index {
            let stale = &self.footprint.all()[index].stale;
            moves.extend(stale.iter().map(|range| self.footprint.out(index, *range)));
        }
        let (device, host) = self.footprint.by_tier(&self.whole_ranges(&copied));
        self.bytes.captured_device += device + moves[copied.pairs.len()..].iter().map(|m| m.bytes).sum::<u64>();
        self.bytes.captured_host += host;
        if !moves.is_empty() {
            agent.copy(&moves)?;
        }
        if !compared.pairs.is_empty() {
            let ticket = agent.synchronise(&compared.pairs, self.chunk(), Towards::Shadow)?;
            let maps = self.chunks(ticket, &compared)?;
            for (index, map) in compared.index.iter().zip(&maps) {
                let tracked = &self.footprint.all()[*index];
                let (tier, bytes) = (tracked.tier, marked_bytes(tracked.range, map, self.chunk()));
                self.count_captured(tier, bytes);
            }
            if self.belief == Belief::Audit && !everything {
                self.audit_capture(&compared, &maps);
            }
        }
        // The snapshot must be whole before anything runs. Where it was so before, nothing is waited for.
        if !moves.is_empty() || !compared.pairs.is_empty() {
            agent.settle(self.deadline())?;
        }
        self.captured = true;
        Ok(())
    }

    /// Believing the shadow would have missed what differs outside the stale ranges.
    fn audit_capture(&mut self, compared: &Selected, maps: &[ChunkMap]) {
        let regions = self.footprint.all();
        let mut expected = WriteSet::empty(regions, self.chunk());
        for (index, tracked) in regions.iter().enumerate() {
            for range in &tracked.stale {
                expected.add_range(index, tracked.range.base, *range);
            }
        }
        let beyond = expected.beyond(&compared.index, maps);
        let surprise = compared.index.iter().zip(&beyond).find(|(i, map)| regions[**i].seen && !map.is_clear());
        if let Some((index, _)) = surprise {
            let base = regions[*index].range.base;
            self.distrust(format!("memory at {base:#x} was written between two windows by nobody that was seen"));
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

    /// Waits for an answer about these pairs and counts the bytes read.
    pub(super) fn chunks(&mut self, ticket: Ticket, asked: &Selected) -> Result<Vec<ChunkMap>, AgentError> {
        self.bytes.compared += asked.bytes();
        match self.engine.agent.answer(ticket, self.deadline())? {
            Answer::Chunks(maps) if maps.len() == asked.pairs.len() => Ok(maps),
            _ => Err(wrong_answer()),
        }
    }

    /// The whole of these regions.
    pub(super) fn whole_ranges(&self, selected: &Selected) -> Vec<(usize, Range)> {
        selected.index.iter().map(|&index| (index, self.footprint.all()[index].range)).collect()
    }

    pub(super) fn chunk(&self) -> crate::Chunk {
        self.engine.process.settings.chunk
    }
}

fn outwards(pair: Pair) -> Move {
    Move { to: pair.shadow, from: pair.memory, bytes: pair.bytes }
}
