//! Several launches in one submission: the interceptor cannot stand between them.

use super::launch::Judged;
use super::open_batch::OpenBatch;
use super::{Engine, Refusal, RunGuard};
use crate::lock::lock;
use crate::window::{Batch, Mode, Recorded, Wanted};
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, Phases, thread};
use std::sync::Arc;
use std::time::Duration;

/// A launch among others that are submitted with it.
pub struct Member<'a, W> {
    /// The launch.
    pub info: DispatchInfo,
    /// It is a memory operation, done by a kernel: recorded, and never counted.
    pub operation: bool,
    /// Makes what the agent can submit again, as for [`Engine::dispatch`].
    pub record: Box<dyn FnOnce() -> Result<W, Decline> + 'a>,
}

/// Something that goes into a batch window together with others.
pub(super) enum Part<W> {
    /// A launch, and its number if it is selected.
    Launch(W, DispatchInfo, Option<DispatchId>),
    /// A launch that does a memory operation of the program's. It may reach what cannot be put back: who recorded it knew what of
    /// that is kept.
    Blit(W, DispatchInfo),
    /// A memory operation, and the bytes that are kept for it.
    Operation(W, u64),
}

impl<A: Agent> Engine<A> {
    /// Several launches are about to be submitted at once, in this order: hold the guard until they were. A batch window
    /// records them all, and replays count them. Where none can, they run outside of windows, and each that is selected
    /// declines: with a reason of its own, or with `multi_packet`.
    pub fn submission(self: &Arc<Self>, members: Vec<Member<'_, A::Work>>) -> RunGuard<A> {
        let start = self.process.elapsed();
        let selected: Vec<Option<DispatchId>> = members
            .iter()
            .map(|member| if member.operation { None } else { self.select(&member.info.kernel) })
            .collect();
        let infos: Vec<DispatchInfo> = members.iter().map(|member| member.info.clone()).collect();
        let (at, refusal) = match self.record_members(start, members, &selected) {
            Ok(guard) => return guard,
            Err(refused) => refused,
        };
        for (index, (info, id)) in infos.iter().zip(selected).enumerate() {
            let Some(id) = id else { continue };
            let refusal = if at == Some(index) {
                Refusal::new(refusal.reason, &refusal.detail)
            } else {
                Refusal::new(Decline::MultiPacket, &refusal.detail)
            };
            self.declined(id, start, info, self.plan.passes.len() as u32, Phases::default(), refusal);
        }
        self.unseen(self.outside(ClosingReason::Launch))
    }

    /// Records all of them, or none; then the place of the one that refused, where it is one, and why.
    fn record_members(
        self: &Arc<Self>,
        start: Duration,
        members: Vec<Member<'_, A::Work>>,
        selected: &[Option<DispatchId>],
    ) -> Result<RunGuard<A>, (Option<usize>, Refusal)> {
        let all = |detail: &str| (None, Refusal::new(Decline::MultiPacket, detail));
        if !self.batches() || self.gate.entered() {
            return Err(all(""));
        }
        if selected.iter().all(Option::is_none) && self.open_batch_now() != OpenBatch::Recording {
            return Err(all(""));
        }
        let mut passes = None;
        let mut parts = Vec::with_capacity(members.len());
        for (index, (member, selected)) in members.into_iter().zip(selected).enumerate() {
            let refused = |refusal| (Some(index), refusal);
            if member.info.traits.own_window {
                return Err(all("one of the launches needs a window of its own"));
            }
            if member.operation {
                // Its `record` knows whether it can be done again.
            } else if selected.is_none() {
                let reason = self.unrecordable(&member.info);
                reason.map_or(Ok(()), |reason| Err(refused(reason.into())))?;
            } else {
                let judged = self.judge(&member.info).map_err(refused)?;
                let wanted = self.replays(judged).filter(|judged| passes.is_none_or(|passes| passes == *judged));
                if wanted.is_none() {
                    return Err(all("not all of the launches are replayed equally often"));
                }
                let reason = self.unrecordable(&member.info);
                reason.map_or(Ok(()), |reason| Err(refused(reason.into())))?;
                passes = wanted;
            }
            let work = (member.record)().map_err(|reason| refused(reason.into()))?;
            parts.push(match member.operation {
                true => Part::Blit(work, member.info),
                false => Part::Launch(work, member.info, *selected),
            });
        }
        self.fits_together(&parts).map_err(|detail| all(&detail))?;
        self.record_together(start, parts, passes).map_err(|refusal| (None, refusal))
    }

    /// In how many passes a launch runs that only replays can count; `None` where the policy decides after each pass, or
    /// nothing is to be replayed. What runs once is counted in one replay.
    pub(super) fn replays(&self, judged: Judged) -> Option<u32> {
        let replayed = judged.passes > 1 || self.counters.is_some();
        (replayed && !judged.until).then_some(judged.passes)
    }

    /// How many dispatches of a window these take.
    pub(super) fn room_for(&self, parts: &[Part<A::Work>]) -> u32 {
        let every = self.counts_every_launch();
        let operations = every && lock(&self.batch).as_ref().is_some_and(Batch::lingers);
        let takes = |part: &&Part<A::Work>| match part {
            Part::Launch(_, _, selected) => every || selected.is_some(),
            Part::Blit(..) => every,
            Part::Operation(..) => operations,
        };
        parts.iter().filter(takes).count() as u32
    }

    /// Whether a window of their own has room for these.
    ///
    /// # Errors
    /// That it has not, in words.
    pub(super) fn fits_together(&self, parts: &[Part<A::Work>]) -> Result<(), String> {
        let (room, most) = (self.room_for(parts), self.most_together());
        if room > most {
            return Err(format!("it has {room} launches to count, and a window holds at most {most} that come as one"));
        }
        Ok(())
    }

    /// Puts all of these into one batch window, in this order. `passes` is those of the selected launches; where none is,
    /// the open window's.
    pub(super) fn record_together(
        self: &Arc<Self>,
        start: Duration,
        parts: Vec<Part<A::Work>>,
        passes: Option<u32>,
    ) -> Result<RunGuard<A>, Refusal> {
        let count = self.room_for(&parts);
        let nothing = || Refusal::new(Decline::MultiPacket, "");
        let launches = parts.iter().filter_map(|part| match part {
            Part::Launch(_, info, selected) => Some((info, selected.is_some())),
            Part::Blit(_, info) => Some((info, false)),
            Part::Operation(..) => None,
        });
        // Policies and counters are asked about a dispatch that is selected, where one is.
        let first = launches.clone().find(|(_, selected)| *selected).or(launches.clone().next());
        let info = first.map(|(info, _)| info.clone()).ok_or_else(nothing)?;
        let mode = if passes.is_some() { Mode::Replays } else { Mode::Recording };
        let passes = passes.or_else(|| lock(&self.batch).as_ref().map(Batch::passes)).ok_or_else(nothing)?;
        let bytes = parts.iter().map(|part| match part {
            Part::Launch(work, ..) | Part::Blit(work, _) => self.agent.work_bytes(work),
            Part::Operation(_, bytes) => *bytes,
        });
        let bytes = bytes.fold(0, u64::saturating_add);
        let at = self.process.instant(start);
        let (hold, turn) = self.place_in_batch(Wanted { passes, count, bytes, mode, at }, &info)?;
        for part in &parts {
            if let Part::Launch(_, info, _) = part {
                self.reaches_still(info)?;
            }
        }
        if let Some(batch) = &mut *lock(&self.batch) {
            for part in parts {
                match part {
                    Part::Launch(work, info, Some(id)) => {
                        let dispatch = Recorded { id, start, info, thread: thread::system_number() };
                        batch.record_dispatch(Some(work), dispatch);
                    }
                    Part::Launch(work, info, None) | Part::Blit(work, info) => {
                        batch.record_unselected(work, &info.kernel)
                    }
                    Part::Operation(work, bytes) => batch.record_operation(work, bytes),
                }
            }
        }
        Ok(RunGuard::recorded(hold, turn, Arc::clone(self), None))
    }

    /// Why a launch that is not selected cannot be run again.
    pub(super) fn unrecordable(&self, info: &DispatchInfo) -> Option<Decline> {
        let unrepeatable = info.traits.unrepeatable().or_else(|| lock(&self.inventory).verdict(&info.arguments));
        unrepeatable.or_else(|| lock(&self.refused).contains(&info.kernel.key).then_some(Decline::PassFailed))
    }
}
