//! What *enter* began and *exit* ends, thread by thread.

use super::AgentCounters;
use super::captures::Beginning;
use super::context::{ContextState, EarlyCall, Gone};
use super::peers::{Beside, Reached};
use crate::agent::CudaAgent;
use crate::pools::{Asking, Pooled};
use crate::tables::Context;
use kreplay_engine::{Region, RunGuard, Window};
use std::cell::RefCell;
use std::sync::Arc;

/// Begun by *enter*.
pub(super) enum Pending {
    /// The program's call runs as it is; no window opens meanwhile.
    Guard { guard: RunGuard<CudaAgent> },
    /// … of every context that it may touch.
    Guards { guards: Vec<RunGuard<CudaAgent>>, reached: Reached, _early: Vec<EarlyCall> },
    /// An allocation: no window is replayed meanwhile.
    Allocation { guards: Vec<RunGuard<CudaAgent>>, _asking: Option<Asking> },
    /// A capture begins.
    Capture(Beginning),
    /// There was no engine when the program's call began.
    Early { _call: EarlyCall },
    /// The program's launch is the last pass of a window.
    Window(Box<LastOf>),
    /// Regions were retired, and come back when the free fails.
    Retired { gone: Vec<(Arc<ContextState>, Gone)>, live: Vec<(Option<Context>, Region)>, pooled: Option<Pooled> },
}

impl Pending {
    /// The program's call runs as it is, and may write memory of other contexts.
    pub(super) fn beside(Beside { guards, reached }: Beside) -> Self {
        Self::Guards { guards, reached, _early: Vec::new() }
    }

    /// As above, of a launch, which seldom may.
    pub(super) fn run(guard: RunGuard<CudaAgent>, mut beside: Beside) -> Self {
        if beside.guards.is_empty() {
            return Self::Guard { guard };
        }
        beside.guards.push(guard);
        Self::beside(beside)
    }

    /// The program's call was submitted.
    pub(super) fn submitted(self) {
        if let Pending::Guards { reached, .. } = &self {
            reached.submitted();
        }
    }

    /// The program's call failed, so nothing of it runs; `name` words its status. What else there is to undo is the caller's.
    pub(super) fn refused(self, name: impl FnOnce(&'static str) -> String) {
        match self {
            Pending::Guard { guard } => guard.failed(&name("the launch")),
            Pending::Guards { guards, .. } | Pending::Allocation { guards, .. } => {
                let message = name("the operation");
                guards.into_iter().for_each(|guard| guard.failed(&message));
            }
            Pending::Early { .. } | Pending::Capture(_) | Pending::Window(_) | Pending::Retired { .. } => {}
        }
    }
}

/// A window whose last pass is the program's own launch. Boxed: what every launch keeps stays small.
pub(super) struct LastOf {
    pub(super) window: Window<CudaAgent>,
    pub(super) agent: CudaAgent,
    pub(super) counters: Option<Arc<dyn AgentCounters>>,
    /// Other contexts whose memory it may write.
    pub(super) beside: Beside,
}

thread_local! {
    static STACK: RefCell<Vec<(u32, Pending)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps something until the exit of the call with this number.
pub(super) fn push(correlation: u32, pending: Pending) {
    // Past the end of the thread's storage nothing can be kept: dropping ends it as failed, which is safe.
    let _ = STACK.try_with(|stack| stack.borrow_mut().push((correlation, pending)));
}

/// The same of a call in a context without an engine, where there is something to keep.
pub(super) fn push_without_engine(correlation: u32, early: Option<EarlyCall>, Beside { guards, reached }: Beside) {
    let pending = match (early, guards.is_empty()) {
        (None, true) => return,
        (Some(call), true) => Pending::Early { _call: call },
        (early, false) => Pending::Guards { guards, reached, _early: early.into_iter().collect() },
    };
    push(correlation, pending);
}

/// What *enter* of this call kept. Calls nest, so anything above it belongs to calls whose exit never came.
pub(super) fn pop(correlation: u32) -> Option<Pending> {
    STACK
        .try_with(|stack| {
            let mut stack = stack.borrow_mut();
            if stack.last().is_some_and(|(number, _)| *number == correlation) {
                return stack.pop().map(|(_, pending)| pending);
            }
            let at = stack.iter().rposition(|(number, _)| *number == correlation)?;
            let abandoned = stack.split_off(at + 1);
            let found = stack.pop().map(|(_, pending)| pending);
            drop(stack);
            drop(abandoned);
            found
        })
        .ok()
        .flatten()
}
