//! How often samples are taken.
//!
//! A short interval needs a short gap between dispatches, but each sample costs the thread that decodes it 20 to 30 µs whatever is
//! in it and however long it is (seen on an H200). What does not fit a counter image when it is decoded is lost, so no more
//! samples may wait than an image holds. While the device runs, decoding goes on until it has caught up, so it is done beside the
//! device only where it is faster than sampling; else the hardware is stopped when half an image's worth of samples waits, and
//! the device waits for the decoding: two to three samples a dispatch, and a stop and a start for some hundred of them. An
//! interval that decoding keeps up with costs less than that. Another interval is another programming of the
//! hardware, so it changes only when it is far off.

use std::time::Duration;

/// The shortest interval, in nanoseconds. Every other one is this times a power of two.
const SHORTEST: u64 = 16_000;
/// The longest: decoding catches up with it, however long a kernel runs.
const LONGEST: u64 = SHORTEST << 3;
/// Bytes of the hardware's buffer. A sample takes 2 to 7 KiB of it (H200), so it holds more samples than an image.
pub(super) const BUFFER: usize = 16 << 20;
/// Between its submission and its beginning a launch takes at least this long on an idle device, in nanoseconds.
const LAUNCH: u64 = 5_000;
/// Intervals are multiples of this, in nanoseconds.
const STEP: u64 = 4_000;
/// What decoding a sample is likely to take before that was seen, in nanoseconds.
const LIKELY: u64 = 24_000;
/// What decoding a sample takes before that was seen where nothing may be risked: the first ones take longest.
const COLD: u64 = 60_000;
/// How long the hardware takes to stop, in nanoseconds, and may go on sampling.
const STOP: u64 = 1_700_000;
/// Samples of a dispatch that tell something.
const WORTH: u64 = 4;
/// The interval of bursts, in nanoseconds.
const OFTEN: u64 = 4_000;

/// Samples that an image holds, for windows of this many dispatches: images are 5 to 30 KB a sample (more with counters of L2
/// and memory), and are emptied whole, however few samples came to be in one.
pub(super) fn samples(dispatches: u32, far: bool) -> u32 {
    match (dispatches, far) {
        (0..=8, _) | (_, true) => 512,
        (_, false) => 1024,
    }
}

/// How many samples may wait before the hardware is stopped. Until it has stopped come those of one dispatch, an eighth of an
/// image at most, and those of the stop itself; and what it takes if the host is kept from looking for a while.
pub(super) fn limit(samples: u32, interval: u64) -> u64 {
    let samples = u64::from(samples);
    (samples * 5 / 8).saturating_sub(STOP / interval.max(1)).max(samples / 8)
}

/// How long the device must be idle between two dispatches: two intervals, so that one whole sample is idle.
pub(super) fn gap(interval: u64) -> Duration {
    Duration::from_nanos((interval * 2 + 500).saturating_sub(LAUNCH))
}

/// Whether to decode beside the device while this many samples wait, where one takes `cost` nanoseconds (`None`: not known
/// yet), or some more: they are worth an image, and decoding catches up before it has filled that.
pub(super) fn beside(waiting: u64, samples: u32, interval: u64, cost: Option<u64>) -> bool {
    let (cost, samples) = (cost.unwrap_or(COLD) * 9 / 8, u64::from(samples));
    cost < interval && waiting >= samples / 8 && waiting * interval / (interval - cost) <= samples * 7 / 8
}

/// The interval without fences, for dispatches that run this long, in nanoseconds (0: not known). Long ones are sampled all
/// the time, as often as decoding catches up with; of short ones that would say nothing, so some are sampled often instead.
pub(super) fn unfenced(typical: u64, far: bool) -> u64 {
    let always = if far { LONGEST } else { SHORTEST * 2 };
    if typical == 0 || typical >= always * WORTH { always } else { OFTEN }
}

/// What was learned on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    interval: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { interval: SHORTEST }
    }
}

impl Pace {
    /// Nanoseconds between two samples of which decoding one takes `cost` (`None`: not known yet). Where the hardware is programmed
    /// for another interval that will do, `programmed`, that stays.
    pub(super) fn interval(&self, cost: Option<u64>, programmed: Option<u64>) -> u64 {
        let keeping_up = (cost.unwrap_or(LIKELY) * 3 / 2).next_multiple_of(STEP);
        let wanted = self.interval.max(keeping_up).min(LONGEST);
        programmed.filter(|known| wanted <= known * 3 / 2 && *known < wanted * 4).unwrap_or(wanted)
    }

    /// More samples waited than was expected: fewer are taken.
    pub(super) fn crammed(&mut self) {
        self.interval = (self.interval * 2).min(LONGEST);
    }

    /// A dispatch ran for `longest` nanoseconds, the longest of its pass, and images hold this many samples.
    pub(super) fn saw(&mut self, longest: u64, samples: u32) {
        let wanted = longest / u64::from(samples / 8).max(1);
        let mut fitting = SHORTEST;
        while fitting < wanted && fitting < LONGEST {
            fitting *= 2;
        }
        if fitting > self.interval || fitting * 8 <= self.interval {
            self.interval = fitting;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn short_kernels_get_short_intervals_and_long_ones_few_samples() {
        let mut pace = Pace::default();
        pace.saw(4_000, 1024);
        assert_eq!(interval(&pace), SHORTEST);
        pace.saw(10 * MILLISECOND, 1024);
        let taken = 10 * MILLISECOND / interval(&pace);
        assert!(interval(&pace) > SHORTEST && taken <= 1024 / 8, "{taken} samples");
        pace.saw(1000 * MILLISECOND, 1024);
        assert!(1000 * MILLISECOND / interval(&pace) < 10_000);
        assert!(gap(interval(&pace)) + Duration::from_nanos(LAUNCH) > Duration::from_nanos(2 * interval(&pace)));
    }

    /// Of counters that are decoded fast.
    fn interval(pace: &Pace) -> u64 {
        pace.interval(Some(5_000), None)
    }

    #[test]
    fn decoding_keeps_up_with_the_interval() {
        let pace = Pace::default();
        for cost in [None, Some(7_000), Some(14_500), Some(22_000), Some(35_000)] {
            let interval = pace.interval(cost, None);
            let cost = cost.unwrap_or(LIKELY);
            assert!(beside(150, 1024, interval, Some(cost)), "{interval} ns for {cost}");
        }
        assert_eq!(pace.interval(Some(22_000), None), 36_000);
        assert_eq!(pace.interval(Some(22_000), Some(48_000)), 48_000, "another programming costs more");
        assert_eq!(pace.interval(Some(22_000), Some(16_000)), 36_000, "decoding does not keep up");
        assert_eq!(pace.interval(Some(1_000_000), None), LONGEST);
    }

    #[test]
    fn what_waits_fits_an_image_with_what_comes_until_the_stop() {
        for (count, interval) in [(1024, SHORTEST), (2048, SHORTEST), (512, SHORTEST), (1024, OFTEN), (1024, LONGEST)] {
            let most = limit(count, interval) + u64::from(count) / 8 + STOP / interval;
            assert!(most <= u64::from(count) * 7 / 8, "{most} of {count} at {interval} ns");
            assert!(limit(count, interval) >= 64);
        }
    }

    #[test]
    fn short_kernels_are_sampled_often_without_a_fence() {
        assert_eq!(unfenced(0, true), LONGEST);
        assert_eq!(unfenced(4_000, true), OFTEN);
        assert_eq!(unfenced(5_000_000, true), LONGEST);
        assert_eq!(unfenced(200_000, false), SHORTEST * 2);
    }

    #[test]
    fn what_was_lost_lengthens_the_interval_within_bounds() {
        let mut pace = Pace::default();
        pace.crammed();
        assert_eq!(interval(&pace), 2 * SHORTEST);
        (0..20).for_each(|_| pace.crammed());
        assert_eq!(interval(&pace), LONGEST);
    }

    #[test]
    fn decoding_beside_the_device_catches_up_within_an_image() {
        assert!(beside(128, 1024, LONGEST, None), "a long kernel would fill the image");
        assert!(!beside(128, 1024, SHORTEST, None), "nothing is known yet");
        assert!(beside(300, 2048, SHORTEST, Some(7_000)));
        assert!(!beside(100, 2048, SHORTEST, Some(7_000)), "an image for a few samples");
        assert!(!beside(1500, 2048, SHORTEST, Some(7_000)), "more come than fit");
        assert!(!beside(300, 1024, SHORTEST, Some(22_000)), "it never catches up");
    }

    #[test]
    fn the_interval_changes_only_when_it_is_far_off() {
        let mut pace = Pace::default();
        pace.saw(10 * MILLISECOND, 1024);
        let before = interval(&pace);
        pace.saw(5 * MILLISECOND, 1024);
        assert_eq!(interval(&pace), before, "another programming costs more than it saves");
        pace.saw(5_000, 1024);
        assert!(interval(&pace) < before);
    }
}
