//! Which chunks of memory differ from the snapshot. A snapshot on the device is compared with; of one in the host tier the
//! hashes are, so that only what differs crosses the link to the host.

use super::core::Core;
use crate::shadow::{Digests, Selected, marked_bytes, marked_ranges, whole_chunks};
use crate::verify::wrong_answer;
use crate::{Agent, AgentError, Answer, ChunkMap, Move, Pair, Range, Ticket, Tier, Towards};
use std::borrow::Cow;

/// Hashes that are asked for at a time: what they come in takes memory of the device, which is scarce where a snapshot lies on
/// the host. Few where tests are built, so that they ask more than once.
const MOST_HASHES: u64 = if cfg!(debug_assertions) { 61 } else { 1 << 19 };

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
        let on_device = |index: &usize| !self.is_hashed(*index);
        let pairs: Cow<'_, [Pair]> = if selected.index.iter().all(on_device) {
            Cow::Borrowed(&selected.pairs)
        } else {
            let both = selected.index.iter().zip(&selected.pairs);
            both.filter(|(index, _)| on_device(index)).map(|(_, pair)| *pair).collect()
        };
        let (agent, chunk) = (&self.engine.agent, self.chunk());
        let comparison = match towards {
            _ if pairs.is_empty() => None,
            None => Some(agent.compare(&pairs, chunk)?),
            Some(towards) => Some(agent.synchronise(&pairs, chunk, towards)?),
        };
        Ok(Asked { selected, towards, comparison })
    }

    /// Whether the snapshot of a region is looked at by its hashes.
    fn is_hashed(&self, index: usize) -> bool {
        self.footprint.all()[index].digests.is_some()
    }

    /// Waits for what was asked, and counts the bytes read. Copies across the link are queued by now.
    pub(super) fn answer(&mut self, asked: Asked) -> Result<Differing, AgentError> {
        let Asked { selected, towards, comparison } = asked;
        self.bytes.compared += selected.bytes();
        let mut compared = match comparison {
            None => Vec::new(),
            Some(ticket) => match self.engine.agent.answer(ticket, self.deadline())? {
                Answer::Chunks(maps) => maps,
                Answer::Hashes(_) => return Err(wrong_answer()),
            },
        }
        .into_iter();
        let mut maps = Vec::with_capacity(selected.index.len());
        for (index, pair) in selected.index.iter().zip(&selected.pairs) {
            maps.push(if self.is_hashed(*index) {
                ChunkMap::new(self.chunk().count(pair.bytes))
            } else {
                compared.next().ok_or_else(wrong_answer)?
            });
        }
        if compared.next().is_some() {
            return Err(wrong_answer());
        }
        if selected.index.iter().any(|index| self.is_hashed(*index)) {
            self.look_by_hash(&selected.index, towards, &mut maps)?;
        }
        Ok(Differing { index: selected.index, maps })
    }

    /// Makes one side of these regions like the other, and tells what differed beside what is put back: the divergence of `pass`. The
    /// hashes of the passes are waited for meanwhile. `surprise`: that would end the trust in what was not looked at, in these words.
    pub(super) fn make_alike(
        &mut self,
        selected: Selected,
        towards: Towards,
        pass: Option<u32>,
        surprise: Option<&str>,
    ) -> Result<Differing, AgentError> {
        let asked = self.ask(selected, Some(towards))?;
        self.answer_outputs()?;
        let differing = self.answer(asked)?;
        let escaped = self.escapes(&differing, pass);
        if let Some(surprise) = surprise.filter(|_| escaped.is_some()) {
            self.distrust(surprise.into());
        }
        self.diverged(escaped);
        Ok(differing)
    }

    /// Counts the bytes that differed, and were copied.
    pub(super) fn count_differing(&mut self, differing: &Differing, towards: Towards) {
        for (index, map) in differing.index.iter().zip(&differing.maps) {
            let tracked = &self.footprint.all()[*index];
            let (tier, bytes) = (tracked.tier, marked_bytes(tracked.range, map, self.chunk()));
            self.count_copied(towards, tier, bytes);
        }
    }

    /// Copies ranges between memory and the snapshot, in one call.
    pub(super) fn copy_ranges(&mut self, ranges: &[(usize, Range)], towards: Towards) -> Result<(), AgentError> {
        if ranges.is_empty() {
            return Ok(());
        }
        let footprint = &self.footprint;
        let moves: Vec<Move> = ranges.iter().map(|(index, range)| footprint.one_way(*index, *range, towards)).collect();
        let (device, host) = footprint.by_tier(ranges);
        self.engine.agent.copy(&moves)?;
        self.count_copied(towards, Tier::Device, device);
        self.count_copied(towards, Tier::Host, host);
        Ok(())
    }

    /// As above, of those regions whose snapshot is in the host tier.
    fn look_by_hash(
        &mut self,
        index: &[usize],
        towards: Option<Towards>,
        maps: &mut [ChunkMap],
    ) -> Result<(), AgentError> {
        let regions: Vec<(usize, Range)> =
            index.iter().map(|&index| (index, self.footprint.all()[index].range)).collect();
        self.hashed(&regions, |at, digests, first, hashes| {
            digests.differing(first, hashes, &mut maps[at]);
            if towards == Some(Towards::Shadow) {
                digests.set(first, hashes);
            }
        })?;
        let Some(towards) = towards else { return Ok(()) };
        // They may have gone while the answer was waited for.
        self.refresh();
        let mut moves: Vec<Move> = Vec::new();
        for ((index, region), map) in regions.into_iter().zip(maps) {
            let tracked = &self.footprint.all()[index];
            if tracked.digests.is_some() && tracked.live {
                let ranges = marked_ranges(region, map, self.chunk());
                moves.extend(ranges.map(|range| self.footprint.one_way(index, range, towards)));
            }
        }
        if moves.is_empty() { Ok(()) } else { self.engine.agent.copy(&moves) }
    }

    /// These ranges were copied to the snapshot: what lies there is what lies in memory. Waits for the hashes of those in the
    /// host tier.
    pub(super) fn renew_digests(&mut self, ranges: &[(usize, Range)]) -> Result<(), AgentError> {
        self.hashed(ranges, |_, digests, first, hashes| digests.set(first, hashes))
    }

    /// Hashes the chunks that these ranges touch of regions whose snapshot is in the host tier, some at a time. `each` gets a
    /// range's place among them, and hashes from a chunk on.
    fn hashed(
        &self,
        ranges: &[(usize, Range)],
        mut each: impl FnMut(usize, &Digests, u64, &[u64]),
    ) -> Result<(), AgentError> {
        let chunk = self.chunk();
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut asked = 0;
        for (at, (index, range)) in ranges.iter().enumerate() {
            let tracked = &self.footprint.all()[*index];
            let Some(digests) = &tracked.digests else { continue };
            let (mut first, mut rest) = whole_chunks(tracked.range, *range, chunk);
            while rest.bytes > 0 {
                let part = Range::new(rest.base, rest.bytes.min((MOST_HASHES - asked) * chunk.bytes()));
                parts.push(Part { at, digests, first, range: part });
                asked += chunk.count(part.bytes);
                first += chunk.count(part.bytes);
                rest = Range::new(part.end(), rest.bytes - part.bytes);
                if asked == MOST_HASHES {
                    self.hash_parts(&std::mem::take(&mut parts), &mut each)?;
                    asked = 0;
                }
            }
        }
        self.hash_parts(&parts, &mut each)
    }

    /// Hashes these in one call.
    fn hash_parts(
        &self,
        parts: &[Part<'_>],
        each: &mut impl FnMut(usize, &Digests, u64, &[u64]),
    ) -> Result<(), AgentError> {
        if parts.is_empty() {
            return Ok(());
        }
        let (agent, chunk) = (&self.engine.agent, self.chunk());
        let ranges: Vec<Range> = parts.iter().map(|part| part.range).collect();
        let Answer::Hashes(hashes) = agent.answer(agent.hash(&ranges, chunk)?, self.deadline())? else {
            return Err(wrong_answer());
        };
        let mut hashes = hashes.as_slice();
        for Part { at, digests, first, range } in parts {
            let (own, rest) = hashes.split_at_checked(chunk.count(range.bytes) as usize).ok_or_else(wrong_answer)?;
            each(*at, digests, *first, own);
            hashes = rest;
        }
        Ok(())
    }
}

/// Whole chunks of a range that is hashed: its place, and the first one's number in its region.
struct Part<'a> {
    at: usize,
    digests: &'a Digests,
    first: u64,
    range: Range,
}
