//! Which launch of a batch window did not end.
//!
//! That a pass did not end says nothing about which of its launches is to blame, and only that one's kernel is not to be
//! replayed again. Marks behind every entry of the list tell ([`Agent::mark`]), but they cost a little, and the device's
//! counters may see them. So passes have none until one did not end in time. The kernels of its window are *suspects* then, and
//! passes of windows that hold one are marked, until another pass does not end: the entry behind the last mark that was
//! reached is the one.
//!
//! Where that cannot be told (the agent has no marks; a memory operation did not end, or a step between the passes) the
//! kernels of the whole window are refused.

use super::{Batch, Entry};
use crate::lock::lock;
use crate::{Agent, AgentError, KernelInfo};
use std::collections::BTreeSet;

/// What is known of a pass that did not end in time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Overdue {
    /// This entry was running.
    Entry(usize),
    /// One of them was, and marks would have told which.
    Unmarked,
}

impl<A: Agent> Batch<A> {
    /// Whether a mark is to go behind each entry.
    pub(super) fn marks_entries(&self) -> bool {
        let suspects = lock(&self.core.engine.suspects);
        let suspected = |kernel: &KernelInfo| suspects.contains(&kernel.key);
        !suspects.is_empty() && self.kernels().any(suspected) && self.core.engine.agent.reached().is_some()
    }

    /// A step of the list met its deadline, or failed otherwise. Asked before anything else is asked of the agent.
    pub(super) fn look_for_overdue(&mut self, error: &AgentError, marked: bool) {
        if !matches!(error, AgentError::Deadline { .. }) {
            return;
        }
        self.overdue = match self.core.engine.agent.reached() {
            // The first mark stands before the list.
            Some(reached) if marked => {
                let at = reached.checked_sub(1).map(|before| before as usize);
                at.filter(|at| *at < self.entries.len()).map(Overdue::Entry)
            }
            Some(_) => Some(Overdue::Unmarked),
            None => None,
        };
    }

    /// After a deadline: refuses the kernel that did not end, or suspects all of the window's. Gives what is known, in
    /// words.
    pub(super) fn refuse_overdue(&mut self) -> Option<String> {
        let engine = &self.core.engine;
        let overdue = self.overdue.take();
        if let Some(Overdue::Entry(at)) = overdue
            && let Some(kernel) = self.entries.get(at).and_then(|entry| self.kernel(entry))
        {
            lock(&engine.refused).insert(kernel.key);
            lock(&engine.suspects).clear();
            return Some(format!("{} did not end", kernel.name));
        }
        let keys: BTreeSet<u64> = self.kernels().map(|kernel| kernel.key).collect();
        match overdue {
            Some(Overdue::Unmarked) if keys.len() > 1 => lock(&engine.suspects).extend(keys),
            _ => lock(&engine.refused).extend(keys),
        }
        None
    }

    /// The kernels that the list launches, also those that are not selected.
    fn kernels(&self) -> impl Iterator<Item = &KernelInfo> {
        self.entries.iter().filter_map(|entry| self.kernel(entry))
    }

    /// What an entry launches; `None` for a memory operation.
    fn kernel<'a>(&'a self, entry: &'a Entry<A::Work>) -> Option<&'a KernelInfo> {
        let selected = entry.dispatch.and_then(|index| self.dispatches.get(index as usize));
        selected.map(|dispatch| &dispatch.info.kernel).or(entry.unselected.as_ref())
    }
}
