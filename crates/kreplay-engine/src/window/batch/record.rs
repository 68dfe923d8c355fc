//! What goes by while a batch window records, in the order of its submission.

use super::{Batch, Entry, HeldFree, Recorded};
use crate::engine::Refusal;
use crate::inventory::generations_so_far;
use crate::{Agent, Decline, KernelInfo};
use std::time::{Duration, Instant};

impl<A: Agent> Batch<A> {
    /// A counted dispatch of the program follows, with what runs it again where the window records. Returns its place, where the
    /// counters count the program's own launch and [`Batch::submitted`] is to tell them.
    pub(crate) fn record_dispatch(&mut self, work: Option<A::Work>, dispatch: Recorded) -> Option<u32> {
        let index = self.dispatches.len() as u32;
        self.dispatches.push(dispatch);
        self.idle = 0;
        if let Some(work) = work {
            self.reached = generations_so_far();
            self.push(work, Some(index), None);
        }
        let counted = self.first_counted && self.core.counting.running();
        counted.then(|| {
            self.core.counting.before(index);
            index
        })
    }

    /// The dispatch was submitted. Where the counters could not go on: its kernel, and how long they waited.
    pub(crate) fn submitted(&mut self, index: u32) -> Option<(u64, Duration)> {
        let start = Instant::now();
        if self.core.counting.after(index) {
            return None;
        }
        self.dispatches.get(index as usize).map(|dispatch| (dispatch.info.kernel.key, start.elapsed()))
    }

    /// A launch that is not selected goes by.
    pub(crate) fn passed_by(&mut self) {
        self.unselected += 1;
        self.idle += 1;
    }

    /// A launch that is not selected follows.
    pub(crate) fn record_unselected(&mut self, work: A::Work, kernel: &KernelInfo) {
        self.passed_by();
        self.reached = generations_so_far();
        self.push(work, None, Some(kernel.clone()));
    }

    /// A memory operation follows, for which at least so many bytes are kept.
    pub(crate) fn record_operation(&mut self, work: A::Work, bytes: u64) {
        self.operations += 1;
        let least = self.recorded_bytes.saturating_add(bytes);
        self.push(work, None, None);
        self.recorded_bytes = self.recorded_bytes.max(least);
    }

    fn push(&mut self, work: A::Work, dispatch: Option<u32>, unselected: Option<KernelInfo>) {
        self.recorded_bytes = self.recorded_bytes.saturating_add(self.core.engine.agent.work_bytes(&work));
        self.entries.push(Entry { work, dispatch, unselected });
    }

    /// Lets a region linger that was freed, until the window is over.
    ///
    /// # Errors
    /// `over`, where the counters have no room for the launches that this may take.
    pub(crate) fn linger(&mut self, over: HeldFree) -> Result<(), HeldFree> {
        if self.room_with(true) > u64::from(self.most) {
            return Err(over);
        }
        self.lingers = true;
        self.frees.push(over);
        Ok(())
    }

    /// Holds a free back until the window is over.
    pub(crate) fn hold_free(&mut self, free: HeldFree) {
        self.frees.push(free);
    }

    /// Something went by that is not in the list: the passes would not do the same.
    pub(crate) fn spoil(&mut self, reason: Decline, detail: &str) {
        self.spoiled.get_or_insert_with(|| Refusal::new(reason, detail));
    }
}
