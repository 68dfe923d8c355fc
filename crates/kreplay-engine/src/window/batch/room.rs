//! How much a batch window takes: what it was opened for, and until it is full.

use super::{Batch, Mode, Wanted};
use crate::{Agent, ClosingReason};
use std::time::Instant;

/// Launches in a row that are not selected before a window is closed whose counters count them all the same: about as many
/// as cost what another reprogramming does.
const MOST_IDLE: u32 = 16;

impl<A: Agent> Batch<A> {
    /// Why it does not take these, if so.
    pub(crate) fn refuses(&self, wanted: &Wanted) -> Option<ClosingReason> {
        let other_passes = self.passes != wanted.passes || self.records() == (wanted.mode == Mode::InLine);
        if other_passes {
            return Some(ClosingReason::Policy);
        }
        if wanted.mode == Mode::Replays && self.first_counted && self.core.engine.counters.is_some() {
            return Some(ClosingReason::Together);
        }
        self.full_for(wanted)
    }

    /// Why it does not take a launch that is not selected, if so.
    pub(crate) fn full_for_unselected(&self) -> Option<ClosingReason> {
        let sparse = self.every_launch && self.idle >= MOST_IDLE;
        self.full(Instant::now()).or(sparse.then_some(ClosingReason::Sparse))
    }

    /// Why it does not take a memory operation for which so many bytes are kept, if so.
    pub(crate) fn full_for_operation(&self, bytes: u64) -> Option<ClosingReason> {
        self.full(Instant::now()).or((!self.keeps(bytes)).then_some(ClosingReason::Bytes))
    }

    /// Whether launches that are not selected take up room.
    pub(crate) fn counts_every_launch(&self) -> bool {
        self.every_launch
    }

    /// Why it does not take what is wanted beside what it holds, if so.
    fn full_for(&self, wanted: &Wanted) -> Option<ClosingReason> {
        if self.is_empty() {
            return None;
        }
        let fits = self.room_taken() + u64::from(wanted.count) <= u64::from(self.most);
        let full = self.full(wanted.at).or((!fits).then_some(ClosingReason::Full));
        full.or((!self.keeps(wanted.bytes)).then_some(ClosingReason::Bytes))
    }

    /// Whether there is room for so many bytes more that are kept.
    fn keeps(&self, bytes: u64) -> bool {
        self.recorded_bytes.saturating_add(bytes) <= self.core.engine.process.settings.batch.bytes
    }

    /// Why it takes nothing more `at` this time, if so. It takes one entry at least.
    fn full(&self, at: Instant) -> Option<ClosingReason> {
        if self.is_empty() {
            return None;
        }
        if self.spoiled.is_some() {
            return Some(ClosingReason::Failed);
        }
        let limits = self.core.engine.process.settings.batch;
        if self.room_taken() >= u64::from(self.most) || self.entries.len() as u64 >= u64::from(limits.entries.max(1)) {
            return Some(ClosingReason::Full);
        }
        if self.recorded_bytes >= limits.bytes {
            return Some(ClosingReason::Bytes);
        }
        (at.saturating_duration_since(self.opened) >= limits.time).then_some(ClosingReason::Time)
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.dispatches.is_empty()
    }

    /// Launches that the counters' room is taken by.
    pub(super) fn room_taken(&self) -> u64 {
        self.room_with(self.lingers)
    }

    /// The same, where something `lingers`: memory operations of what was freed may need a launch each in the replays.
    pub(super) fn room_with(&self, lingers: bool) -> u64 {
        let beside = self.unselected + if lingers { self.operations } else { 0 };
        self.dispatches.len() as u64 + if self.every_launch { u64::from(beside) } else { 0 }
    }
}
