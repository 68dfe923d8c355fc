//! The fence around each dispatch: the device is idle before it and after it, long enough for a whole sample.

use super::{Beat, Fence};
use std::time::Duration;

/// What fences need of the device and the clock.
pub trait Ground {
    /// The error that a failed wait ends with.
    type Error;
    /// Waits until what was submitted is done.
    ///
    /// # Errors
    /// That the wait failed.
    fn idle(&mut self) -> Result<(), Self::Error>;
    /// The clock that samples carry, in nanoseconds.
    fn now(&mut self) -> u64;
    /// How much was submitted so far.
    fn submissions(&mut self) -> u64;
    /// Lets time pass.
    fn pass(&mut self, time: Duration);
}

/// The fences of a segment.
#[derive(Debug, Default)]
pub struct Fences {
    gap: Duration,
    /// Since when the device has been idle, the gap being over.
    clear: u64,
    /// How much had been submitted then.
    submitted: u64,
    open: Option<u64>,
    /// Some gaps are only as long as the beat asks for.
    pub by_beat: bool,
    /// Of each dispatch, in their order.
    pub done: Vec<Fence>,
    /// When other things can have run.
    pub others: Vec<Fence>,
}

impl Fences {
    /// Of a segment that has just begun on an idle device, `gap` ago at least.
    pub fn new<G: Ground>(gap: Duration, ground: &mut G) -> Self {
        Self { gap, clear: ground.now(), submitted: ground.submissions(), ..Self::default() }
    }

    /// Since when nothing was submitted, on the samples' clock.
    pub fn clear(&self) -> u64 {
        self.clear
    }

    /// A dispatch follows. What was submitted since the last one is waited for and is nobody's. `beat` tells when samples end
    /// around a time, where that is known.
    ///
    /// # Errors
    /// That of the wait.
    pub fn before<G: Ground>(&mut self, ground: &mut G, beat: impl Fn(u64) -> Option<Beat>) -> Result<(), G::Error> {
        if ground.submissions() != self.submitted {
            let from = self.clear;
            ground.idle()?;
            let to = ground.now();
            self.others.push(Fence { from, to });
            self.pass_gap(to, ground, beat(to));
        }
        self.open = Some(ground.now());
        Ok(())
    }

    /// No dispatch follows: what was submitted since the last one is nobody's.
    pub fn end<G: Ground>(&mut self, ground: &mut G) {
        self.others.push(Fence { from: self.clear, to: ground.now() });
    }

    /// The dispatch was submitted. Gives how long it can have taken, in nanoseconds. `beat` as in [`Fences::before`].
    ///
    /// # Errors
    /// That of the wait.
    pub fn after<G: Ground>(&mut self, ground: &mut G, beat: impl Fn(u64) -> Option<Beat>) -> Result<u64, G::Error> {
        ground.idle()?;
        let to = ground.now();
        let from = self.open.take();
        self.done.extend(from.map(|from| Fence { from, to }));
        self.pass_gap(to, ground, beat(to));
        self.clear = ground.now();
        self.submitted = ground.submissions();
        Ok(from.map_or(0, |from| to - from))
    }

    /// Keeps apart what was over at `over` from what follows.
    fn pass_gap<G: Ground>(&mut self, over: u64, ground: &mut G, beat: Option<Beat>) {
        self.by_beat |= beat.is_some();
        let gap = beat.map_or(self.gap, |beat| beat.gap(over, ground.now()));
        ground.pass(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of which each look takes 100 ns, and work that takes 1000.
    #[derive(Default)]
    struct Scripted {
        time: u64,
        submitted: u64,
        waits: u32,
    }

    impl Ground for Scripted {
        type Error = ();
        fn idle(&mut self) -> Result<(), ()> {
            self.waits += 1;
            self.time += 1000;
            Ok(())
        }
        fn now(&mut self) -> u64 {
            self.time += 100;
            self.time
        }
        fn submissions(&mut self) -> u64 {
            self.submitted
        }
        fn pass(&mut self, time: Duration) {
            self.time += time.as_nanos() as u64;
        }
    }

    #[test]
    fn a_gap_lies_between_fences() {
        let mut ground = Scripted::default();
        let gap = Duration::from_nanos(5000);
        let mut fences = Fences::new(gap, &mut ground);
        for _ in 0..3 {
            fences.before(&mut ground, |_| None).expect("no wait fails");
            ground.submitted += 1;
            fences.after(&mut ground, |_| None).expect("no wait fails");
        }
        assert_eq!((fences.done.len(), ground.waits), (3, 3), "a second wait would only cost time");
        for pair in fences.done.windows(2) {
            assert!(pair[1].from - pair[0].to >= 5000);
        }
        assert!(fences.others.is_empty());
    }

    #[test]
    fn what_is_submitted_between_dispatches_is_waited_for_and_nobodys() {
        let mut ground = Scripted::default();
        let mut fences = Fences::new(Duration::from_nanos(5000), &mut ground);
        fences.before(&mut ground, |_| None).expect("no wait fails");
        fences.after(&mut ground, |_| None).expect("no wait fails");
        ground.time += 3000;
        ground.submitted += 1;
        fences.before(&mut ground, |_| None).expect("no wait fails");
        assert_eq!((fences.others.len(), ground.waits), (1, 2));
        let (other, open) = (fences.others[0], fences.open.expect("a dispatch follows"));
        assert!(other.from > fences.done[0].to && open - other.to >= 5000);
    }

    #[test]
    fn with_a_beat_a_gap_lasts_until_the_sample_is_over() {
        let mut ground = Scripted::default();
        let mut fences = Fences::new(Duration::from_nanos(40_000), &mut ground);
        let beat = |_| Some(Beat::new(0, 16_000.0));
        for _ in 0..4 {
            fences.before(&mut ground, beat).expect("no wait fails");
            ground.submitted += 1;
            fences.after(&mut ground, beat).expect("no wait fails");
        }
        assert!(fences.by_beat);
        let samples = |fence: &Fence| fence.from / 16_000..=fence.to / 16_000;
        for pair in fences.done.windows(2) {
            assert!(samples(&pair[0]).end() < samples(&pair[1]).start(), "{pair:?}");
            assert!(pair[1].from - pair[0].from < 17_500, "{pair:?}");
        }
    }
}
