//! How far sampling is, as its thread and those that count tell each other.

use super::tempo::Tempo;
use crate::counters::Guarded;
use crate::counters::planning::sample_group::SampleGroup;
use kreplay_engine::sampling::Beat;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// After how long without a dispatch the hardware is stopped, in nanoseconds: beginning again takes less than a tenth of that.
const REST: u64 = 10_000_000;

impl Pending {
    /// Whether the program lets the device rest at this time of the samples' clock: its samples say nothing then.
    pub(super) fn rests(&self, now: u64) -> bool {
        !self.within && now.saturating_sub(self.left) >= REST
    }
}

/// How far the running segment is.
#[derive(Default)]
pub(super) struct Progress {
    /// Samples that were decoded.
    pub(super) decoded: AtomicU64,
    /// The hardware does not sample any more: it must be programmed anew.
    pub(super) spoilt: AtomicBool,
    /// More waited than was expected.
    pub(super) crammed: AtomicBool,
    pub(super) running: Mutex<Option<Pending>>,
    /// A portion is being decoded.
    pub(super) decoding: AtomicBool,
    pub(super) tempo: Mutex<Tempo>,
    /// The CPU of the thread that asked last: it waits by looking at the clock. Or more than there are.
    pub(super) asker: AtomicUsize,
    /// What decoding a sample of a group takes, in nanoseconds, by the group's address: one that is used again only makes for a
    /// wrong first guess.
    costs: Mutex<HashMap<usize, u64>>,
}

/// What a segment's samples are counted by.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    /// On the samples' clock.
    pub(super) began: u64,
    pub(super) interval: u64,
    /// How many samples may wait.
    pub(super) limit: u64,
    /// … while a dispatch runs: what does not fit the image is lost.
    pub(super) most: u64,
    /// A dispatch is within its fence.
    pub(super) within: bool,
    /// When the last one's ended, or the segment began.
    pub(super) left: u64,
    /// The thread has stopped by itself.
    pub(super) stopped: bool,
    /// It starts again after that.
    pub(super) bursts: bool,
}

impl Progress {
    /// What decoding a sample of this group takes, in nanoseconds: as it was seen, or as the dearest that was.
    pub(super) fn cost(&self, group: &Arc<SampleGroup>) -> Option<u64> {
        let costs = self.costs.guarded();
        costs.get(&key(group)).or_else(|| costs.values().max()).copied()
    }

    /// Whether it was seen of this group.
    pub(super) fn knows_cost(&self, group: &Arc<SampleGroup>) -> bool {
        self.costs.guarded().contains_key(&key(group))
    }

    /// Decoding took so long for each of many samples. Less is believed at once: where it takes more the thread moves on.
    pub(super) fn learn_cost(&self, group: &Arc<SampleGroup>, cost: u64) {
        let mut costs = self.costs.guarded();
        let known = costs.entry(key(group)).or_insert(cost);
        *known = ((*known * 3 + cost) / 4).min(cost).max(1);
    }

    /// When samples end, where that is known at this time of their clock.
    pub(super) fn beat(&self, now: u64) -> Option<Beat> {
        let running = *self.running.guarded();
        running.as_ref().and_then(|pending| self.beat_of(pending, now))
    }

    /// As [`Progress::beat`], of the segment that runs.
    pub(super) fn beat_of(&self, pending: &Pending, now: u64) -> Option<Beat> {
        let beat = || self.tempo.guarded().beat(now, pending.interval);
        if pending.stopped { None } else { beat() }
    }

    /// Samples that wait to be decoded at this time of the samples' clock.
    pub(super) fn waiting(&self, pending: &Pending, now: u64) -> u64 {
        let taken = now.saturating_sub(pending.began) / pending.interval.max(1);
        taken.saturating_sub(self.decoded.load(Ordering::Relaxed))
    }
}

fn key(group: &Arc<SampleGroup>) -> usize {
    Arc::as_ptr(group) as usize
}
