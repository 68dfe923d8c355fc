//! Batch windows, as launches and memory operations go by.

use super::launch::Judged;
use super::open_batch::OpenBatch;
use super::{Decision, Engine, Refusal, RunGuard};
use crate::gate::{Alone, Shared};
use crate::lock::lock;
use crate::shadow::Footprint;
use crate::timing::Stopwatch;
use crate::window::{Batch, HeldFree, Mode, Recorded, Wanted};
use crate::{
    Agent, AgentDescription, ClosingReason, Decline, DispatchId, DispatchInfo, Phases, RestoreMode, Settings,
    WindowMode, thread,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Looks at a window that other threads fill, before a launch declines.
pub(super) const MOST_LOOKS: u32 = 1000;

/// What a memory operation of the program does, for [`Engine::memory_operation`].
pub enum Operation<'a, W> {
    /// Changes device memory in a way that can be done again: the closure makes what does it (with saved sources), or
    /// `None` when it cannot after all.
    Repeatable(&'a mut dyn FnMut() -> Option<W>),
    /// Only reads device memory, or waits: a copy to the host, a synchronise, an event query. It waits until no launch of
    /// another thread is being counted.
    Reads,
    /// Belongs to another device, or only waits: neither memory nor counters of this agent know of it.
    Elsewhere,
    /// Reaches memory that cannot be put back. It runs outside of every window.
    Foreign,
    /// Anything else. It runs outside of every window.
    Other,
}

/// Whether dispatches of this agent go into batch windows.
fn batches<A: Agent>(agent: &A, description: &AgentDescription, settings: &Settings) -> bool {
    let wanted = match settings.window {
        WindowMode::Kernel => false,
        WindowMode::Batch => true,
        WindowMode::Auto => agent.records(),
    };
    wanted && settings.restore == RestoreMode::Observed && description.capabilities.observe
}

/// How many dispatches a window of this agent is expected to hold, for the planner.
pub(super) fn expected_dispatches<A: Agent>(agent: &A, settings: &Settings) -> u32 {
    if batches(agent, &agent.describe(), settings) { settings.batch.expected() } else { 1 }
}

impl<A: Agent> Engine<A> {
    /// A memory operation of the program is about to be submitted: hold the guard until it was. As
    /// [`Engine::operation`], but an open batch window records it if it can, and else is closed first.
    /// What it writes is told to [`Engine::region_written`] in any case, while the guard is held.
    pub fn memory_operation(self: &Arc<Self>, operation: Operation<'_, A::Work>) -> RunGuard<A> {
        if self.gate.entered() {
            return RunGuard::new(self.gate.share());
        }
        let hold = self.gate.share();
        let mut reason = ClosingReason::Unrecordable;
        match (self.open_batch_now(), operation) {
            (OpenBatch::Nothing, _) | (_, Operation::Elsewhere) => return RunGuard::new(hold),
            // Pass 0 may be counted as it runs, and a copy within a fence would be counted with it.
            (OpenBatch::Recording, Operation::Reads) if self.counts_own_launches() => return self.beside(hold),
            (OpenBatch::Recording, Operation::Reads) => return RunGuard::new(hold),
            (OpenBatch::InLine, _) => return self.beside(hold),
            (OpenBatch::Recording, Operation::Foreign) => {
                reason = ClosingReason::Foreign;
                drop(hold);
            }
            (OpenBatch::Recording, Operation::Other) => drop(hold),
            (OpenBatch::Recording, Operation::Repeatable(record)) => {
                let full = lock(&self.batch).as_ref().and_then(Batch::full_for_operation);
                if let Some(full) = full {
                    reason = full;
                } else if let Some(turn) = self.turn()
                    && let Some(work) = record()
                    && let Some(batch) = &mut *lock(&self.batch)
                {
                    batch.record_operation(work);
                    return RunGuard::recorded(hold, turn, Arc::clone(self), None);
                }
                drop(hold);
            }
        }
        self.outside(reason)
    }

    /// The program frees a region. While a batch window is open the recorded work needs its memory: the free is held
    /// back and `free` is called when the window is over. `free` retires the region and frees it.
    ///
    /// # Errors
    /// `free` itself, when no batch window is open: retire the region and free it now.
    pub fn hold_free(&self, free: HeldFree) -> Result<(), HeldFree> {
        if self.open_batch_now() != OpenBatch::Recording || self.gate.owned() {
            return Err(free);
        }
        let _hold = self.gate.share();
        match &mut *lock(&self.batch) {
            Some(batch) if batch.records() => {
                batch.hold_free(free);
                Ok(())
            }
            _ => Err(free),
        }
    }

    /// Closes the batch window that is open, if one is: it is replayed now. For an interceptor that knows of something
    /// that must not fall into a window, and for the end of a part of the program.
    pub fn close_window(&self) {
        self.close_window_for(ClosingReason::Unrecordable);
    }

    /// As [`Engine::close_window`], where the interceptor can say why.
    pub fn close_window_for(&self, reason: ClosingReason) {
        self.close_batch(reason);
    }

    /// Whether launches that are not selected take up room in a window.
    pub(crate) fn counts_every_launch(&self) -> bool {
        self.counters.as_ref().is_some_and(|counters| counters.counts_every_launch(&self.plan))
    }

    /// Most dispatches that any batch window may hold.
    pub(crate) fn most_dispatches(&self) -> u32 {
        let counters = self.counters.as_ref().map_or(u32::MAX, |counters| counters.most_dispatches(&self.plan));
        self.process.settings.batch.dispatches.min(counters).max(1)
    }

    /// How many dispatches the next batch window holds.
    pub fn next_length(&self) -> u32 {
        let most = self.most_dispatches();
        let steady = self.counters.as_ref().and_then(|counters| counters.steady_dispatches(&self.plan));
        steady.map_or_else(|| lock(&self.length).next(most), |steady| steady.clamp(1, most))
    }

    /// Which batch window is open. It changes only while the gate is held alone.
    pub(super) fn open_batch_now(&self) -> OpenBatch {
        self.open_batch.get()
    }

    /// Whether dispatches go into batch windows.
    pub(super) fn batches(&self) -> bool {
        batches(&*self.agent, &self.description, &self.process.settings)
    }

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
                    let wanted = Wanted { passes: 1, count: 1, mode: Mode::Replays, at };
                    let (hold, turn) = self.place_in_batch(wanted, info)?;
                    return Ok(Some(self.record_dispatch(id, start, info, Some(work), hold, turn)));
                }
                let wanted = Wanted { passes: 1, count: 1, mode: Mode::InLine, at };
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
        let (hold, turn) = self.place_in_batch(Wanted { passes, count: 1, mode: Mode::Recording, at }, info)?;
        Ok(Some(self.record_dispatch(id, start, info, Some(work), hold, turn)))
    }

    /// Whether the open window replays what runs once, and this launch could be among it.
    fn joins_replays(&self, info: &DispatchInfo) -> bool {
        self.open_batch_now() == OpenBatch::Recording
            && lock(&self.batch).as_ref().is_some_and(|batch| batch.passes() == 1)
            && !info.traits.own_window
            && self.unrecordable(info).is_none()
    }

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
                self.close_batch(reason);
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
            batch.record_unselected(work);
            return Decision::Recorded(RunGuard::recorded(hold, turn, Arc::clone(self), None));
        }
        drop(hold);
        self.close_batch(full.unwrap_or(ClosingReason::Launch));
        self.run()
    }

    /// One launch or operation is recorded and submitted at a time, so that the list is in the order of submission.
    pub(super) fn turn(&self) -> Option<Alone> {
        // Nobody has it, nearly always: then there is no deadline to reckon.
        self.turn.try_close().or_else(|| self.turn.close(Instant::now() + self.process.settings.drain_deadline))
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

    /// Closes the batch window, if one is open and this thread can have the agent alone.
    pub(super) fn close_batch(&self, reason: ClosingReason) {
        if self.open_batch_now() == OpenBatch::Nothing || self.gate.entered() {
            return;
        }
        let deadline = Instant::now() + self.process.settings.drain_deadline;
        let Some(alone) = self.gate.close(deadline) else { return self.spoil_batch() };
        let Some(batch) = lock(&self.batch).take() else { return };
        self.open_batch.set(OpenBatch::Nothing);
        // Pass 0 is what the program launched since the window opened.
        match self.agent.drain(Instant::now() + self.process.settings.pass_deadline) {
            Ok(()) => batch.close(alone, reason),
            Err(error) => {
                let refusal = self.refuse(Decline::DrainTimeout, &error);
                drop(alone);
                batch.abandon(refusal);
            }
        }
    }

    /// As [`Engine::close_batch`], if the window records.
    pub(super) fn close_recording(&self, reason: ClosingReason) {
        if self.open_batch_now() == OpenBatch::Recording {
            self.close_batch(reason);
        }
    }

    /// Something goes by that the open batch window does not hold.
    pub(super) fn spoil_batch(&self) {
        if let Some(batch) = &mut *lock(&self.batch) {
            batch.spoil(Decline::PassFailed, "something ran within the window that was not recorded");
        }
    }

    /// What was recorded last did not run.
    pub(super) fn batch_call_failed(&self, message: &str) {
        if let Some(batch) = &mut *lock(&self.batch) {
            batch.spoil(Decline::PassFailed, &format!("a call of the program failed: {message}"));
        }
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
}
