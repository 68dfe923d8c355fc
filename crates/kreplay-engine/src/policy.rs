//! Who decides how often a dispatch runs.

use crate::{DispatchInfo, KernelInfo, Outcome, Plan};

/// Which dispatches are profiled. Asked exactly once a dispatch, never per pass, on the launching thread: it must be
/// quick (a lookup by [`KernelInfo::key`]).
pub trait Filter: Send + Sync + 'static {
    /// Whether this dispatch is profiled.
    fn select(&self, kernel: &KernelInfo) -> bool;

    /// Whether [`Filter::select`] will say no to every launch of this kernel, as its name alone may tell. An interceptor that
    /// knows need not ask for each.
    fn never(&self, kernel: &KernelInfo) -> bool {
        let _ = kernel;
        false
    }
}

/// How often a dispatch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// Counted once: no snapshot, no restore.
    Once,
    /// Exactly this many passes; 0 and 1 mean [`Passes::Once`].
    Exactly(u32),
    /// Until [`Policy::proceed`] says stop, at most `bound` passes.
    Until {
        /// The most passes; there is no endless replay.
        bound: u32,
    },
}

/// What is done beside running, per pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Services {
    /// Whether counters are read in this pass.
    pub counters: bool,
}

impl Default for Services {
    fn default() -> Self {
        Self { counters: true }
    }
}

/// What a pass did, for [`Policy::proceed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassEnd {
    /// Its number, from 0.
    pub pass: u32,
    /// Whether its output is known to differ from pass 0's.
    pub divergent: bool,
}

/// How a window ended.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowStatus {
    /// What became of the dispatch.
    pub outcome: Outcome,
    /// Passes that ran to their end, the program's own included.
    pub passes_done: u32,
}

impl WindowStatus {
    /// Of a window that was closed before.
    pub(crate) fn unknown() -> Self {
        let outcome = Outcome::Declined { reason: crate::Decline::PassFailed, detail: String::new() };
        Self { outcome, passes_done: 0 }
    }
}

/// Decides how often a dispatch runs and what each pass does. One call of [`Policy::passes`] for each eligible dispatch,
/// on the launching thread. A policy may launch work itself: such dispatches are declined as re-entrant.
pub trait Policy: Send + Sync + 'static {
    /// How many passes. `plan` holds the passes that the request needs.
    fn passes(&self, dispatch: &DispatchInfo, plan: &Plan) -> Passes {
        let _ = dispatch;
        Passes::Exactly(plan.passes.len() as u32)
    }

    /// What pass `pass` does. A service that cannot be switched is an error of the window, never ignored.
    fn services(&self, dispatch: &DispatchInfo, pass: u32) -> Services {
        let _ = (dispatch, pass);
        Services::default()
    }

    /// Whether another pass follows; asked after each pass but the last possible one. Stopping early still runs the
    /// program's own launch, as the last pass.
    fn proceed(&self, dispatch: &DispatchInfo, end: PassEnd) -> bool {
        let _ = (dispatch, end);
        true
    }

    /// The window ended, or the dispatch declined.
    fn ended(&self, dispatch: &DispatchInfo, status: &WindowStatus) {
        let _ = (dispatch, status);
    }
}

/// The filter that selects every dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryKernel;

impl Filter for EveryKernel {
    fn select(&self, _: &KernelInfo) -> bool {
        true
    }
}

/// The policy that runs the passes of the plan, each counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByPlan;

impl Policy for ByPlan {}
