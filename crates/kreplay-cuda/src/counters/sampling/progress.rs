//! How far sampling is, as its thread and those that count tell each other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    /// What decoding a sample takes, in nanoseconds; 0: not known yet.
    cost: AtomicU64,
}

/// What a segment's samples are counted by.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    /// On the samples' clock.
    pub(super) began: u64,
    pub(super) interval: u64,
    /// How many samples may wait.
    pub(super) limit: u64,
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
    /// What decoding a sample takes, in nanoseconds.
    pub(super) fn cost(&self) -> Option<u64> {
        Some(self.cost.load(Ordering::Relaxed)).filter(|cost| *cost > 0)
    }

    /// Decoding took so long for each of many samples.
    pub(super) fn learn_cost(&self, cost: u64) {
        let learnt = self.cost().map_or(cost, |known| (known * 3 + cost) / 4);
        self.cost.store(learnt.max(1), Ordering::Relaxed);
    }

    /// Samples that wait to be decoded at this time of the samples' clock.
    pub(super) fn waiting(&self, pending: &Pending, now: u64) -> u64 {
        let taken = now.saturating_sub(pending.began) / pending.interval.max(1);
        taken.saturating_sub(self.decoded.load(Ordering::Relaxed))
    }
}
