//! Several launches in one submission: the interceptor cannot stand between them.

use super::open_batch::OpenBatch;
use super::{Engine, Refusal, RunGuard};
use crate::lock::lock;
use crate::window::Recorded;
use crate::{Agent, Decline, DispatchId, DispatchInfo, Phases, thread};
use std::sync::Arc;

/// A launch among others that are submitted with it.
pub struct Member<'a, W> {
    /// The launch.
    pub info: DispatchInfo,
    /// Makes what the agent can submit again, as for [`Engine::dispatch`].
    pub record: Box<dyn FnOnce() -> Result<W, Decline> + 'a>,
}

/// A member that can be recorded.
struct Ready<W> {
    work: W,
    info: DispatchInfo,
    selected: Option<DispatchId>,
}

impl<A: Agent> Engine<A> {
    /// Several launches are about to be submitted at once, in this order: hold the guard until they were. A batch window
    /// records them all. Where none can, they run outside of windows, and each that is selected declines: with a reason
    /// of its own, or with `multi_packet`.
    pub fn submission(self: &Arc<Self>, members: Vec<Member<'_, A::Work>>) -> RunGuard<A> {
        let start = self.process.elapsed();
        let selected: Vec<Option<DispatchId>> = members.iter().map(|member| self.select(&member.info.kernel)).collect();
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
        self.unseen(self.outside(crate::ClosingReason::Unrecordable))
    }

    /// Records all of them, or none; then the place of the one that refused, where it is one, and why.
    fn record_members(
        self: &Arc<Self>,
        start: std::time::Duration,
        members: Vec<Member<'_, A::Work>>,
        selected: &[Option<DispatchId>],
    ) -> Result<RunGuard<A>, (Option<usize>, Refusal)> {
        let all = |detail: &str| (None, Refusal::new(Decline::MultiPacket, detail));
        if !(self.batches() || self.counts_in_line()) || self.gate.entered() {
            return Err(all(""));
        }
        if selected.iter().all(Option::is_none) && self.open_batch_now() != OpenBatch::Recording {
            return Err(all(""));
        }
        if self.counts_own_launches() {
            return Err(all("launches that are submitted together cannot be counted one by one as they run"));
        }
        let mut passes = None;
        let mut ready = Vec::with_capacity(members.len());
        for (index, (member, selected)) in members.into_iter().zip(selected).enumerate() {
            let refused = |refusal| (Some(index), refusal);
            if member.info.traits.own_window {
                return Err(all("one of the launches needs a window of its own"));
            }
            if selected.is_none() {
                let reason = self.unrecordable(&member.info);
                reason.map_or(Ok(()), |reason| Err(refused(reason.into())))?;
            } else {
                let judged = self.judge(&member.info).map_err(refused)?;
                if judged.passes < 2 || judged.until || passes.is_some_and(|passes| passes != judged.passes) {
                    return Err(all("not all of the launches are replayed equally often"));
                }
                passes = Some(judged.passes);
            }
            let work = (member.record)().map_err(|reason| refused(reason.into()))?;
            ready.push(Ready { work, info: member.info, selected: *selected });
        }
        let count = if self.counts_every_launch() { ready.len() } else { selected.iter().flatten().count() } as u32;
        if count > self.most_dispatches() {
            return Err(all("more launches than a window holds were submitted at once"));
        }
        let first = ready.iter().find(|ready| ready.selected.is_some()).or(ready.first());
        let Some(info) = first.map(|ready| ready.info.clone()) else { return Err(all("")) };
        let passes = passes.or_else(|| lock(&self.batch).as_ref().map(crate::window::Batch::passes));
        let Some(passes) = passes else { return Err(all("")) };
        let (hold, turn) = self.place_in_batch(passes, count, &info).map_err(|refusal| (None, refusal))?;
        if let Some(batch) = &mut *lock(&self.batch) {
            for Ready { work, info, selected } in ready {
                match selected {
                    Some(id) => {
                        let dispatch = Recorded { id, start, info, thread: thread::system_number() };
                        batch.record_dispatch(Some(work), dispatch);
                    }
                    None => batch.record_unselected(work),
                }
            }
        }
        Ok(RunGuard::recorded(hold, turn))
    }

    /// Why a launch that is not selected cannot be run again.
    fn unrecordable(&self, info: &DispatchInfo) -> Option<Decline> {
        let special = info.traits.decline.or(info.traits.collective.then_some(Decline::Collective));
        special.or_else(|| lock(&self.inventory).verdict(&info.arguments))
    }
}
