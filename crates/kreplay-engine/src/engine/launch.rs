//! A launch by the program: filter, policy, verdict.

use super::{Decision, Engine, Refusal, RunGuard};
use crate::lock::lock;
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, KernelInfo, Passes, Phases, ShadowMode};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What the policy wants of a dispatch that can be replayed.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    pub(super) passes: u32,
    /// The policy decides after each pass.
    pub(super) until: bool,
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
}
