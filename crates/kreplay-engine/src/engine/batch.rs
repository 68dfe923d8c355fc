//! A launch while batch windows are in use: it is recorded, counted in line, or ends the window that is open.

use super::launch::Judged;
use super::open_batch::OpenBatch;
use super::{Decision, Engine, Refusal, RunGuard};
use crate::gate::{Alone, Shared};
use crate::lock::lock;
use crate::window::{Batch, Mode, Recorded, Wanted};
use crate::{Agent, ClosingReason, Decline, DispatchId, DispatchInfo, thread};
use std::sync::Arc;
use std::time::Duration;

impl<A: Agent> Engine<A> {
    /// A launch while batch windows are in use. `None`: it has a kernel window of its own, or runs once.
    pub(super) fn dispatch_batch(
        self: &Arc<Self>,
        id: DispatchId,
        start: Duration,
        info: &DispatchInfo,
        judged: &Result<Judged, Refusal>,
        record: &mut Option<impl FnOnce() -> Result<A::Work, Decline>>,
    ) -> Result<Option<Decision<A>>, Refusal> {
        let at = self.process.instant(start);
        let passes = match judged {
            Ok(Judged { passes: 1, until: false }) if self.counts_in_line() => {
                // Beside graphs, which are counted by replays, it is counted by them too where it can be.
                if let Some(work) =
                    self.joins_replays(info).then(|| record.take()).flatten().and_then(|make| make().ok())
                {
                    let wanted = Wanted { passes: 1, count: 1, bytes: 0, mode: Mode::Replays, at };
                    let (hold, turn) = self.place_in_batch(wanted, info)?;
                    self.reaches_still(info)?;
                    return Ok(Some(self.record_dispatch(id, start, info, Some(work), hold, turn)));
                }
                let wanted = Wanted { passes: 1, count: 1, bytes: 0, mode: Mode::InLine, at };
                let (hold, turn) = match self.place_in_batch(wanted, info) {
                    // The end of another window has shown that it cannot: a window of its own counts it.
                    Err(_) if !self.counts_in_line() => return Ok(None),
                    placed => placed?,
                };
                return Ok(Some(self.record_dispatch(id, start, info, None, hold, turn)));
            }
            // Its kernel window closes what is open.
            Ok(_) if !self.batches() => return Ok(None),
            Ok(judged) if judged.passes > 1 && !judged.until && !info.traits.own_window => judged.passes,
            _ => {
                let policy = judged.is_ok() && !info.traits.own_window;
                self.close_batch(if policy { ClosingReason::Policy } else { ClosingReason::Launch });
                return Ok(None);
            }
        };
        let Some(make) = record.take() else { return Ok(None) };
        let work = match make() {
            Ok(work) => work,
            Err(reason) => {
                self.close_batch(ClosingReason::Launch);
                return Err(reason.into());
            }
        };
        let (hold, turn) =
            self.place_in_batch(Wanted { passes, count: 1, bytes: 0, mode: Mode::Recording, at }, info)?;
        self.reaches_still(info)?;
        Ok(Some(self.record_dispatch(id, start, info, Some(work), hold, turn)))
    }

    /// Whether the open window replays what runs once, and this launch could be among it.
    fn joins_replays(&self, info: &DispatchInfo) -> bool {
        self.open_batch_now() == OpenBatch::Recording
            && lock(&self.batch).as_ref().is_some_and(|batch| batch.passes() == 1)
            && !info.traits.own_window
            && self.unrecordable(info).is_none()
    }

    /// Puts a dispatch into the window, which is open and takes it: the caller holds the gate and the turn. There is work
    /// if it records.
    fn record_dispatch(
        self: &Arc<Self>,
        id: DispatchId,
        start: Duration,
        info: &DispatchInfo,
        work: Option<A::Work>,
        hold: Shared,
        turn: Alone,
    ) -> Decision<A> {
        let dispatch = Recorded { id, start, info: info.clone(), thread: thread::system_number() };
        let index = lock(&self.batch).as_mut().and_then(|batch| batch.record_dispatch(work, dispatch));
        Decision::Recorded(RunGuard::recorded(hold, turn, Arc::clone(self), index))
    }

    /// A recorded dispatch was submitted.
    pub(super) fn batch_submitted(&self, index: u32) {
        let late = lock(&self.batch).as_mut().and_then(|batch| batch.submitted(index));
        // The fence behind it waited in vain: it may wait for something that comes only after it.
        if let Some((kernel, waited)) = late
            && waited >= self.process.settings.pass_deadline
        {
            lock(&self.refused).insert(kernel);
        }
    }

    /// As [`Engine::dispatch`], for a launch that [`Engine::select`] refused: an open batch window records it too.
    pub fn dispatch_unselected(
        self: &Arc<Self>,
        info: &DispatchInfo,
        record: impl FnOnce() -> Result<A::Work, Decline>,
    ) -> Decision<A> {
        if self.gate.entered() {
            return self.run();
        }
        if let Some(guard) = self.pass_by() {
            return Decision::Run(guard);
        }
        let hold = self.gate.share();
        let repeatable = !info.traits.own_window && self.unrecordable(info).is_none();
        let full = lock(&self.batch).as_ref().and_then(Batch::full_for_unselected);
        if repeatable
            && full.is_none()
            && let Some(turn) = self.turn()
            && let Ok(work) = record()
            && let Some(batch) = &mut *lock(&self.batch)
        {
            batch.record_unselected(work, &info.kernel);
            return Decision::Recorded(RunGuard::recorded(hold, turn, Arc::clone(self), None));
        }
        drop(hold);
        self.close_batch(full.unwrap_or(ClosingReason::Launch));
        self.run()
    }

    /// For a launch that [`Engine::select`] refused: the guard to hold while the program submits it. `None` while a batch
    /// window is open that has to record the launch: describe it to [`Engine::dispatch_unselected`].
    pub fn pass_by(&self) -> Option<RunGuard<A>> {
        let hold = self.gate.share();
        match self.open_batch_now() {
            OpenBatch::InLine if !hold.is_nested() => Some(self.unseen(match self.beside_launch(hold) {
                Ok(guard) => guard,
                Err(reason) => {
                    self.close_batch(reason);
                    self.outside(reason)
                }
            })),
            OpenBatch::Nothing | OpenBatch::InLine => Some(self.unseen(RunGuard::new(hold))),
            OpenBatch::Recording => None,
        }
    }
}
