//! A launch by the program: filter, policy, verdict.

use super::batch::MOST_LOOKS;
use super::open_batch::OpenBatch;
use super::{Decision, Engine, Event, Looked, RunGuard};
use crate::gate::Alone;
use crate::inventory::Live;
use crate::lock::lock;
use crate::shadow::{Footprint, Placing, Unplaced};
use crate::timing::Stopwatch;
use crate::window::{Admitted, Window};
use crate::{
    Agent, AgentError, Bytes, ClosingReason, Decline, DispatchId, DispatchInfo, DispatchRecord, KernelInfo, Outcome,
    Passes, Phases, Reach, RestoreMode, ShadowMode, WindowStatus, thread,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What the policy wants of a dispatch that can be replayed.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    pub(super) passes: u32,
    /// The policy decides after each pass.
    pub(super) until: bool,
}

/// Why a dispatch declines, and what the agent said.
pub(crate) struct Refusal {
    pub(crate) reason: Decline,
    pub(crate) detail: String,
}

impl Refusal {
    pub(crate) fn new(reason: Decline, detail: impl ToString) -> Self {
        Self { reason, detail: detail.to_string() }
    }
}

impl From<Decline> for Refusal {
    fn from(reason: Decline) -> Self {
        Self { reason, detail: String::new() }
    }
}

impl<A: Agent> Engine<A> {
    /// A launch by the program is about to be submitted. `record` makes what the agent can submit again; it is called
    /// only when the launch is to be replayed or recorded, and may decline itself.
    ///
    /// The same as [`Engine::select`] and, by its answer, [`Engine::dispatch_selected`] or
    /// [`Engine::dispatch_unselected`]. An interceptor that pays for describing a launch asks these itself.
    pub fn dispatch(
        self: &Arc<Self>,
        info: &DispatchInfo,
        record: impl FnOnce() -> Result<A::Work, Decline>,
    ) -> Decision<A> {
        match self.select(&info.kernel) {
            Some(id) => self.dispatch_selected(id, info, record),
            None => self.dispatch_unselected(info, record),
        }
    }

    /// Whether a launch of this kernel is profiled: its number, if so. Asks the filter, so it is called once a launch. A
    /// launch that is not selected costs this lookup and [`Engine::pass_by`].
    pub fn select(&self, kernel: &KernelInfo) -> Option<DispatchId> {
        if self.is_finished() {
            let _unused = self.process.next_dispatch();
            return None;
        }
        self.process.select(self.description.id, kernel)
    }

    /// As [`Engine::select`], for a launch of a kernel that [`Process::never_selects`](crate::Process::never_selects).
    pub fn leave_out(&self) {
        if self.is_finished() {
            let _unused = self.process.next_dispatch();
            return;
        }
        self.process.leave_out(self.description.id);
    }

    /// As [`Engine::dispatch`], for a launch that [`Engine::select`] gave this number.
    pub fn dispatch_selected(
        self: &Arc<Self>,
        id: DispatchId,
        info: &DispatchInfo,
        record: impl FnOnce() -> Result<A::Work, Decline>,
    ) -> Decision<A> {
        let batches = self.batches() || self.counts_in_line();
        let start = self.process.elapsed();
        let mut phases = Phases::default();
        let within = self.gate.entered();
        let judged = if within { Err(Decline::Reentrant.into()) } else { self.judge_outside(info) };
        let asked = judged.as_ref().map_or(self.plan.passes.len() as u32, |judged| judged.passes);
        let mut record = Some(record);
        if batches && !within {
            match self.dispatch_batch(id, start, info, &judged, &mut record) {
                Ok(None) => {}
                Ok(Some(decision)) => return decision,
                Err(refusal) => {
                    self.declined(id, start, info, asked, phases, refusal);
                    return self.run();
                }
            }
        }
        let admitted = judged.and_then(|judged| self.admit(id, start, info, record, judged, &mut phases));
        match admitted {
            Ok(window) => Decision::Window(window),
            Err(refusal) => {
                self.declined(id, start, info, asked, phases, refusal);
                self.run()
            }
        }
    }

    /// The program's own launch, as it is, outside windows. What it writes is not seen.
    pub(super) fn run(self: &Arc<Self>) -> Decision<A> {
        Decision::Run(self.unseen(self.outside(ClosingReason::Launch)))
    }

    /// The guard is of a launch whose writes are not seen.
    pub(super) fn unseen(&self, guard: RunGuard<A>) -> RunGuard<A> {
        if self.process.settings.shadow == ShadowMode::Trusted {
            self.stale.everything();
        }
        guard
    }

    /// Whether it can be replayed at all, and in how many passes. Asks the policy, once.
    pub(super) fn judge(&self, info: &DispatchInfo) -> Result<Judged, Refusal> {
        if self.gate.entered() {
            return Err(Decline::Reentrant.into());
        }
        self.judge_outside(info)
    }

    /// The same, for a thread that does not have the gate.
    fn judge_outside(&self, info: &DispatchInfo) -> Result<Judged, Refusal> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(Decline::AgentLost.into());
        }
        if let Some(reason) = info.traits.decline {
            return Err(reason.into());
        }
        if lock(&self.refused).contains(&info.kernel.key) {
            return Err(Refusal::new(Decline::PassFailed, "an earlier pass of this kernel did not end in time"));
        }
        let (passes, until) = match self.process.policy.passes(info, &self.plan) {
            Passes::Once => (1, false),
            Passes::Exactly(passes) => (passes.max(1), false),
            Passes::Until { bound } => (bound.max(1), true),
        };
        let refused = |reason: Decline| Err(Refusal::from(reason));
        if passes > 1 {
            if info.traits.collective {
                return refused(Decline::Collective);
            }
            if let Some(reason) = info.traits.unrestorable {
                return refused(reason);
            }
            if let Some(reason) = lock(&self.inventory).verdict(&info.arguments) {
                return refused(reason);
            }
        }
        Ok(Judged { passes, until })
    }

    fn admit(
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
            .filter(|live| !everything || !matches!(live.region.kind, crate::RegionKind::Host { .. }))
            .cloned()
            .collect();
        let placing = Placing {
            staging: &self.process.staging,
            agent: self.description.id,
            reserve: settings.device_reserve,
            observe: self.observes(),
            observe_host: self.description.capabilities.observe_host,
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

    /// Whether memory in device backing is compared, rather than copied whole.
    fn observes(&self) -> bool {
        self.process.settings.restore == RestoreMode::Observed && self.description.capabilities.observe
    }

    /// A refusal for what the agent said: `reason`, unless the agent is lost.
    pub(crate) fn refuse(&self, reason: Decline, error: &AgentError) -> Refusal {
        if let AgentError::Lost(_) = error {
            self.lost.store(true, Ordering::Relaxed);
            return Refusal::new(Decline::AgentLost, error);
        }
        Refusal::new(reason, error)
    }

    pub(super) fn declined(
        &self,
        id: DispatchId,
        start: Duration,
        info: &DispatchInfo,
        asked: u32,
        phases: Phases,
        refusal: Refusal,
    ) {
        let Refusal { reason, detail } = refusal;
        let mut events = Vec::new();
        if let Some(message) = self.process.first_decline(reason, &detail) {
            events.push(Event::Warn(reason.name(), message));
        }
        let outcome = Outcome::Declined { reason, detail };
        let status = WindowStatus { outcome: outcome.clone(), passes_done: 0 };
        events.push(Event::Dispatch(Box::new(DispatchRecord {
            id,
            agent: self.description.id,
            kernel: info.kernel.clone(),
            geometry: info.geometry,
            stream: info.stream,
            argument_bytes: info.arguments.size(),
            thread: thread::system_number(),
            window: None,
            outcome,
            passes_asked: asked,
            passes_done: 0,
            divergence: None,
            phases,
            bytes: Bytes::default(),
            write_set: None,
            start,
            notes: Vec::new(),
        })));
        events.push(Event::Ended(Box::new(info.clone()), status));
        self.tell(events);
    }
}
