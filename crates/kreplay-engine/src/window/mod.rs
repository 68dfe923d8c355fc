//! Windows: from drain to release, with every exit leaving memory as one real run would.
//!
//! ```text
//!            ┌────────── counted once ──────────┐
//!  opened ───┤                                  ├──▶ handed back ──▶ closed
//!     │      └─ capture ▶ pass 0 ▶ write set ─┐ │         │
//!     │           ▲  restore ▶ pass k ▶ check ┘ │         └─ the program's launch failed, or does not end
//!     │           └──── more passes ────┘ ▶ repair
//!     └─ anything fails ▶ given up: memory put back ▶ handed back ▶ closed
//! ```
//!
//! *Opened*: the gate is held alone, the agent is drained, backing is placed, the counters are open. Memory is the
//! program's. *Handed back*: memory equals the snapshot (or the agent cannot be spoken to any more); the next thing to
//! run is the program's own launch. *Closed*: memory is what that launch made of the snapshot.
//!
//! **Capture.** The shadow is made equal to memory. The window waits for it: pass 0 starts only when the snapshot is
//! whole. **Pass 0**, then *compare* gives the write set. **Between passes** the write set is put back in one batched copy,
//! queued ahead of the pass. **Repair**: memory is made equal to the shadow, whole, which also undoes what escaped the write
//! set. **Close**: after the program's own launch the shadow is made equal to memory again; what that finds outside the
//! write set escaped in the last pass.
//!
//! **When something fails** the memory that a pass may have changed is put back from the shadow, whole; the program's
//! own launch then starts from the snapshot, and the dispatch is recorded as declined. A pass that does not end by its
//! deadline is given as long again to end, since memory cannot be put back under a running kernel; its kernel is not
//! replayed again in this run. If it still runs then, the engine touches nothing more and says so.
//!
//! A window that is dropped without being closed (a panic, a lost code path) puts memory back if a pass has changed it.

mod batch;
mod capture;
mod close;
mod commit;
mod core;
mod counting;
mod failure;
mod look;
mod observe;
mod open;
mod passes;
mod repair;

#[cfg(any(test, feature = "test-agent"))]
pub(crate) use batch::WindowCost;
pub(crate) use batch::{Batch, HeldFree, Length, Mode, Recorded, Wanted};
pub(crate) use open::Admitted;

use crate::engine::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::shadow::Footprint;
use crate::{Agent, Phases, WindowStatus};
use open::Open;
use std::sync::Arc;

/// A window with one dispatch, replayed or counted once. Owned; it may be closed by another thread than the one that
/// opened it, but until then the opener's further launches on this agent count as re-entrant.
#[must_use = "submit the program's launch after run_until_last, then close it"]
pub struct Window<A: Agent> {
    /// `None` once it is closed.
    open: Option<Box<Open<A>>>,
}

/// What became of the program's own launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastPass {
    /// It was submitted.
    Submitted,
    /// The vendor's call failed, so nothing runs. The message is recorded; the program gets its own return code.
    Failed(String),
}

impl<A: Agent> Window<A> {
    pub(crate) fn open(
        engine: Arc<Engine<A>>,
        alone: Alone,
        admitted: Admitted<A>,
        placed: (Footprint, Looked),
        phases: Phases,
    ) -> Result<Self, Refusal> {
        Ok(Self { open: Some(Box::new(Open::new(engine, alone, admitted, placed, phases)?)) })
    }

    /// Runs every pass but the last and begins that one: what runs next on this agent is the program's own launch. Never
    /// fails towards the caller; calling it again does nothing.
    pub fn run_until_last(&mut self) {
        if let Some(open) = &mut self.open {
            open.run_until_last();
        }
    }

    /// The program's own launch was submitted, or failed: waits for it, checks, brings the shadow up to date, lets go of
    /// the agent, and tells recorder and policy.
    pub fn close(mut self, last: LastPass) -> WindowStatus {
        let open = self.open.take();
        // The option is empty only in `drop`.
        open.map_or_else(WindowStatus::unknown, |open| open.close(last))
    }
}

impl<A: Agent> Drop for Window<A> {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.dropped();
        }
    }
}
