//! The batch window that a launch goes into, and its turn to go in.

use super::open_batch::OpenBatch;
use super::{Engine, Refusal};
use crate::gate::{Alone, Shared};
use crate::lock::lock;
use crate::shadow::Footprint;
use crate::timing::Stopwatch;
use crate::window::{Batch, Mode, Wanted};
use crate::{Agent, Decline, DispatchInfo, Phases};
use std::sync::Arc;
use std::time::Instant;

/// Looks at a window that other threads fill, before a launch declines.
pub(super) const MOST_LOOKS: u32 = 1000;

impl<A: Agent> Engine<A> {
    /// A batch window that takes what is wanted, opened for the launch that `info` describes where there is none; with the
    /// gate and the turn held.
    pub(super) fn place_in_batch(
        self: &Arc<Self>,
        wanted: Wanted,
        info: &DispatchInfo,
    ) -> Result<(Shared, Alone), Refusal> {
        // Another thread may fill or close the window between two looks; each time it got on.
        for _ in 0..MOST_LOOKS {
            let hold = self.gate.share();
            let Some(turn) = self.turn() else {
                return Err(Refusal::new(Decline::DrainTimeout, "another launch is being submitted for too long"));
            };
            let (takes, closing) = match &*lock(&self.batch) {
                None => (false, None),
                Some(batch) => {
                    let refuses = batch.refuses(&wanted);
                    (refuses.is_none(), refuses)
                }
            };
            if takes {
                return Ok((hold, turn));
            }
            drop((turn, hold));
            if let Some(reason) = closing {
                if !self.close_batch(reason) {
                    return Err(Refusal::new(Decline::DrainTimeout, "another operation holds the agent"));
                }
            } else if let Some(alone) = self.open_batch(wanted, info)? {
                // The first entry goes in before anybody can fill or close the window.
                let hold = alone.downgrade();
                if let Some(turn) = self.turn() {
                    return Ok((hold, turn));
                }
            }
        }
        self.spoil_batch();
        Err(Refusal::new(Decline::DrainTimeout, "no batch window could be had beside the other threads' launches"))
    }

    /// Whether a launch that was looked at before the gate was held can be put back still: what it reaches may have become
    /// something else since, and the window have been opened after that. What changes from now on ends the window first.
    pub(super) fn reaches_still(&self, info: &DispatchInfo) -> Result<(), Refusal> {
        lock(&self.inventory).verdict(&info.arguments).map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Opens a window and keeps the gate; `None` when another thread has opened one.
    fn open_batch(self: &Arc<Self>, wanted: Wanted, info: &DispatchInfo) -> Result<Option<Alone>, Refusal> {
        let mut phases = Phases::default();
        let mut watch = Stopwatch::start();
        let alone = self.enter();
        watch.lap(&mut phases.drain);
        let alone = alone?;
        if lock(&self.batch).is_some() {
            return Ok(None);
        }
        let footprint = match wanted.mode {
            Mode::InLine => Footprint::default(),
            _ => self.snapshot_place(info, true)?.0,
        };
        watch.lap(&mut phases.capture);
        let (batch, alone) = Batch::open(Arc::clone(self), alone, footprint, phases, wanted, info)?;
        self.open_batch.set(if batch.records() { OpenBatch::Recording } else { OpenBatch::InLine });
        *lock(&self.batch) = Some(batch);
        Ok(alone)
    }

    /// One launch or operation is recorded and submitted at a time, so that the list is in the order of submission.
    pub(super) fn turn(&self) -> Option<Alone> {
        // Nobody has it, nearly always: then there is no deadline to reckon.
        self.turn.try_close().or_else(|| self.turn.close(Instant::now() + self.process.settings.drain_deadline))
    }
}
