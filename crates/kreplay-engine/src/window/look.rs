//! Which chunks of memory differ from the snapshot. A snapshot on the device is compared with; of one in the host tier the
//! hashes are, so that only what differs crosses the link to the host.

use super::core::Core;
use crate::shadow::{Selected, marked_ranges, whole_chunks};
use crate::verify::wrong_answer;
use crate::{Agent, AgentError, Answer, ChunkMap, Move, Pair, Range, Ticket, Towards};

/// Hashes that are asked for at a time: what they come in takes memory of the device, which is scarce where a snapshot lies on
/// the host.
const MOST_HASHES: u64 = 1 << 19;

/// What was asked and is not answered yet.
pub(super) struct Asked {
    selected: Selected,
    towards: Option<Towards>,
    /// Of those on the device.
    comparison: Option<Ticket>,
}

/// The answer: one map a region.
pub(super) struct Differing {
    /// Places in the footprint.
    pub(super) index: Vec<usize>,
    pub(super) maps: Vec<ChunkMap>,
}

impl<A: Agent> Core<A> {
    /// Asks which chunks of these regions differ from the snapshot, and with `towards` makes one side like the other there.
    pub(super) fn ask(&self, selected: Selected, towards: Option<Towards>) -> Result<Asked, AgentError> {
        let pairs: Vec<Pair> = self.compared(&selected).map(|(_, pair)| *pair).collect();
        let (agent, chunk) = (&self.engine.agent, self.chunk());
        let comparison = match towards {
            _ if pairs.is_empty() => None,
            None => Some(agent.compare(&pairs, chunk)?),
            Some(towards) => Some(agent.synchronise(&pairs, chunk, towards)?),
        };
        Ok(Asked { selected, towards, comparison })
    }

    /// Places among the selected, and pairs, of the regions whose snapshot is on the device.
    fn compared<'a>(&'a self, selected: &'a Selected) -> impl Iterator<Item = (usize, &'a Pair)> {
        let on_device = |at: &usize| self.footprint.all()[selected.index[*at]].digests.is_none();
        (0..selected.index.len()).filter(on_device).map(|at| (at, &selected.pairs[at]))
    }

    /// Waits for what was asked, and counts the bytes read. Copies across the link are queued by now.
    pub(super) fn answer(&mut self, asked: Asked) -> Result<Differing, AgentError> {
        let Asked { selected, towards, comparison } = asked;
        self.bytes.compared += selected.bytes();
        let mut maps: Vec<ChunkMap> =
            selected.pairs.iter().map(|pair| ChunkMap::new(self.chunk().count(pair.bytes))).collect();
        if let Some(ticket) = comparison {
            let Answer::Chunks(found) = self.engine.agent.answer(ticket, self.deadline())? else {
                return Err(wrong_answer());
            };
            let places: Vec<usize> = self.compared(&selected).map(|(at, _)| at).collect();
            if found.len() != places.len() {
                return Err(wrong_answer());
            }
            for (at, map) in places.into_iter().zip(found) {
                maps[at] = map;
            }
        }
        for (at, &index) in selected.index.iter().enumerate() {
            if self.footprint.all()[index].digests.is_some() {
                maps[at] = self.look_by_hash(index, towards)?;
            }
        }
        Ok(Differing { index: selected.index, maps })
    }

    /// As above, of one region whose snapshot is in the host tier.
    fn look_by_hash(&mut self, index: usize, towards: Option<Towards>) -> Result<ChunkMap, AgentError> {
        let region = self.footprint.all()[index].range;
        let mut map = ChunkMap::new(self.chunk().count(region.bytes));
        self.hashed(index, region, |digests, first, hashes| {
            digests.differing(first, hashes, &mut map);
            if towards == Some(Towards::Shadow) {
                digests.set(first, hashes);
            }
        })?;
        // It may have gone while the answer was waited for.
        self.refresh();
        if let Some(towards) = towards
            && self.footprint.all()[index].live
        {
            let one_way = |range| match towards {
                Towards::Shadow => self.footprint.out(index, range),
                Towards::Memory => self.footprint.back(index, range),
            };
            let moves: Vec<Move> = marked_ranges(region, &map, self.chunk()).map(one_way).collect();
            if !moves.is_empty() {
                self.engine.agent.copy(&moves)?;
            }
        }
        Ok(map)
    }

    /// These ranges were copied to the snapshot: what lies there is what lies in memory. Waits for the hashes of those in the
    /// host tier.
    pub(super) fn renew_digests(&mut self, ranges: &[(usize, Range)]) -> Result<(), AgentError> {
        for (index, range) in ranges {
            if self.footprint.all()[*index].digests.is_some() {
                self.hashed(*index, *range, |digests, first, hashes| digests.set(first, hashes))?;
            }
        }
        Ok(())
    }

    /// Hashes the chunks of a region that a range touches, some at a time.
    fn hashed(
        &self,
        index: usize,
        range: Range,
        mut each: impl FnMut(&crate::shadow::Digests, u64, &[u64]),
    ) -> Result<(), AgentError> {
        let tracked = &self.footprint.all()[index];
        let (Some(digests), chunk) = (&tracked.digests, self.chunk()) else { return Ok(()) };
        let (mut first, mut rest) = whole_chunks(tracked.range, range, chunk);
        while rest.bytes > 0 {
            let part = Range::new(rest.base, rest.bytes.min(MOST_HASHES * chunk.bytes()));
            let ticket = self.engine.agent.hash(&[part], chunk)?;
            match self.engine.agent.answer(ticket, self.deadline())? {
                Answer::Hashes(hashes) if hashes.len() as u64 == chunk.count(part.bytes) => {
                    each(digests, first, &hashes)
                }
                _ => return Err(wrong_answer()),
            }
            first += chunk.count(part.bytes);
            rest = Range::new(part.end(), rest.bytes - part.bytes);
        }
        Ok(())
    }
}
