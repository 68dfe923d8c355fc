//! The fence around each dispatch: the device is idle before it and after it, long enough for whole samples.

use kreplay_engine::CountersError;
use kreplay_engine::sampling::Fence;
use std::time::{Duration, Instant};

/// Intervals that pass between two dispatches: more than two, so that an idle one lies between what belongs to them, and
/// that stray activity in the gap cannot share an interval with both.
const GAP: u64 = 4;

/// What fences need of the device.
pub(in crate::counters) trait Ground {
    /// Waits until everything that was submitted has ended.
    fn idle(&self) -> Result<(), CountersError>;
    /// How much was submitted so far.
    fn submissions(&self) -> u64;
    /// The clock that samples carry, in nanoseconds.
    fn now(&self) -> u64;
}

/// The fences of a segment.
#[derive(Debug)]
pub(super) struct Fences {
    gap: Duration,
    /// Since when the device has been idle, the gap being over.
    clear: u64,
    /// How much had been submitted then.
    submitted: u64,
    open: Option<u64>,
    pub(super) done: Vec<Fence>,
    pub(super) others: Vec<Fence>,
}

impl Fences {
    /// Of a stream that has just begun on an idle device. Lets a gap pass.
    pub(super) fn new(interval: u64, ground: &impl Ground) -> Self {
        let gap = Duration::from_nanos(interval * GAP);
        pass(gap);
        let (clear, submitted) = (ground.now(), ground.submissions());
        Self { gap, clear, submitted, open: None, done: Vec::new(), others: Vec::new() }
    }

    /// Since when nothing was submitted.
    pub(super) fn clear(&self) -> u64 {
        self.clear
    }

    /// A dispatch follows. What was submitted since the last one is waited for and is nobody's.
    pub(super) fn before(&mut self, ground: &impl Ground) -> Result<(), CountersError> {
        if ground.submissions() != self.submitted {
            ground.idle()?;
            self.others.push(Fence { from: self.clear, to: ground.now() });
            pass(self.gap);
        }
        self.open = Some(ground.now());
        Ok(())
    }

    /// The dispatch was submitted. Gives how long it can have taken, in nanoseconds.
    pub(super) fn after(&mut self, ground: &impl Ground) -> Result<u64, CountersError> {
        ground.idle()?;
        let to = ground.now();
        let Some(from) = self.open.take() else { return Ok(0) };
        self.done.push(Fence { from, to });
        pass(self.gap);
        self.clear = ground.now();
        self.submitted = ground.submissions();
        Ok(to - from)
    }
}

/// Lets time pass without giving the processor away for long: gaps are some microseconds.
fn pass(time: Duration) {
    let start = Instant::now();
    if time > Duration::from_millis(1) {
        std::thread::sleep(time);
    }
    while start.elapsed() < time {
        std::thread::yield_now();
    }
}
