//! From the verdict to an open kernel window: the gate, the drain, room for the snapshot.

use super::launch::Judged;
use super::open_batch::OpenBatch;
use super::place::MOST_LOOKS;
use super::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::inventory::Live;
use crate::lock::lock;
use crate::shadow::{Footprint, Placing, Unplaced};
use crate::timing::Stopwatch;
use crate::window::{Admitted, Window};
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, Phases, Reach, RegionKind, RestoreMode, thread};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl<A: Agent> Engine<A> {
    pub(super) fn admit(
        self: &Arc<Self>,
        id: DispatchId,
        start: Duration,
        info: &DispatchInfo,
        record: Option<impl FnOnce() -> Result<A::Work, Decline>>,
        judged: Judged,
        phases: &mut Phases,
    ) -> Result<Window<A>, Refusal> {
        let work = match record {
            Some(record) if judged.passes > 1 => Some(record()?),
            _ => None,
        };
        let mut watch = Stopwatch::start();
        let alone = self.enter_outside();
        watch.lap(&mut phases.drain);
        let alone = alone?;
        let placed = match work {
            Some(_) => self.snapshot_place(info, false)?,
            None => (Footprint::default(), Looked::All),
        };
        watch.lap(&mut phases.capture);
        let admitted =
            Admitted { id, start, asked: judged.passes, work, info: info.clone(), thread: thread::system_number() };
        Window::open(Arc::clone(self), alone, admitted, placed, *phases)
    }

    /// As [`Engine::enter`], with no batch window open: launches of other threads may have opened one meanwhile.
    fn enter_outside(self: &Arc<Self>) -> Result<Alone, Refusal> {
        for _ in 0..MOST_LOOKS {
            let alone = self.enter()?;
            if self.open_batch_now() == OpenBatch::Nothing {
                return Ok(alone);
            }
            drop(alone);
            self.close_batch(ClosingReason::Launch);
        }
        Err(Refusal::new(Decline::DrainTimeout, "the other threads' windows leave no time between them"))
    }

    /// Takes the gate alone and drains the agent.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Alone, Refusal> {
        let deadline = Instant::now() + self.process.settings.drain_deadline;
        let alone = self
            .gate
            .close(deadline)
            .ok_or_else(|| Refusal::new(Decline::DrainTimeout, "another window or operation holds the agent"))?;
        if self.unsettled.load(Ordering::Relaxed) {
            // One glance: the work of a window that was given up may have ended since.
            self.agent.settle(Instant::now()).map_err(|error| self.refuse(Decline::DrainTimeout, &error))?;
            self.unsettled.store(false, Ordering::Relaxed);
        }
        self.agent.drain(deadline).map_err(|error| self.refuse(Decline::DrainTimeout, &error))?;
        Ok(alone)
    }

    /// Decides which regions the window looks at, and finds backing for them. `everything`: for a batch window, all but
    /// memory of the host.
    pub(super) fn snapshot_place(&self, info: &DispatchInfo, everything: bool) -> Result<(Footprint, Looked), Refusal> {
        let settings = &self.process.settings;
        let inventory = lock(&self.inventory);
        // Regions may have been born since the first look.
        if let Some(reason) = inventory.verdict(&info.arguments) {
            return Err(reason.into());
        }
        let reach = if everything { Reach::All } else { settings.reach };
        let looked = lock(&self.reach).choose(reach, info, &inventory);
        let wanted: Vec<Live> = inventory
            .captured()
            .filter(|live| match &looked {
                Looked::Only(bases) => bases.contains(&live.region.range.base),
                Looked::All | Looked::Audit(_) => true,
            })
            .filter(|live| !everything || !matches!(live.region.kind, RegionKind::Host { .. }))
            .cloned()
            .collect();
        let placing = Placing {
            staging: &self.process.staging,
            agent: self.description.id,
            reserve: settings.device_reserve,
            observe: self.observes().then_some(settings.chunk),
        };
        drop(inventory);
        let live = |base, generation| lock(&self.inventory).is_live(base, generation);
        let placed = lock(&self.shadow).place(&wanted, live, &placing);
        // Whether it succeeded or not: what this capture did not take is not needed any more.
        self.process.staging.trim(self.description.id);
        match placed {
            Ok(footprint) => Ok((footprint, looked)),
            Err(Unplaced::NoBacking(error)) => Err(Refusal::new(Decline::NoBacking, error)),
            Err(Unplaced::Agent(error)) => Err(self.refuse(Decline::CaptureFailed, &error)),
        }
    }

    /// Whether the write set is found and put back, rather than everything.
    fn observes(&self) -> bool {
        self.process.settings.restore == RestoreMode::Observed && self.description.capabilities.observe
    }
}
