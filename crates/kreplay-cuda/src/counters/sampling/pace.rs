//! How often samples are taken.
//!
//! A short interval needs a short gap between dispatches, but each sample costs the thread that decodes it 7 µs (counters
//! of the multiprocessors) to 22 µs (L2 and DRAM too; both measured on an H200), so with these a longer interval is faster
//! although the device waits longer: there are two to three samples a dispatch in any case. What does not fit a counter
//! image when it is decoded is lost, so no more samples may wait than an image holds. While the device runs, decoding goes on
//! until it has caught up, so it is done beside the device only where it is several times as fast as sampling; else the
//! hardware is stopped when an image's worth of samples waits. Another interval is another programming of the hardware, so
//! it changes only when it is far off.

use std::time::Duration;

/// The shortest interval, in nanoseconds. Every other one is this times a power of two.
const SHORTEST: u64 = 8_000;
/// The shortest with counters of L2 or memory.
const SHORTEST_FAR: u64 = 16_000;
/// The longest: decoding keeps up with it, however long a kernel runs.
const LONGEST: u64 = SHORTEST << 4;
/// Bytes of the hardware's buffer. A sample takes 2 to 7 KiB of it (H200), so it holds more samples than an image.
pub(super) const BUFFER: usize = 16 << 20;
/// Between its submission and its beginning a launch takes at least this long on an idle device, in nanoseconds.
const LAUNCH: u64 = 5_000;
/// Decoding is several times as fast as sampling at these intervals, in nanoseconds: with the multiprocessors' counters, and
/// with those of L2 and memory, whose first samples take up to 60 µs.
const BESIDE: (u64, u64) = (32_000, 128_000);

/// Samples of a dispatch that tell something.
const WORTH: u64 = 4;
/// The interval of bursts, in nanoseconds.
const OFTEN: u64 = 4_000;

/// Samples that an image holds, for windows of this many dispatches: images are 5 to 30 KB a sample, and emptied whole.
pub(super) fn samples(dispatches: u32) -> u32 {
    if dispatches <= 8 { 512 } else { 1024 }
}

/// How many samples may wait before the hardware is stopped. Until it has stopped come those of one dispatch, an eighth of an
/// image at most, and those of the stop itself, which takes 1.6 ms (H200).
pub(super) fn limit(samples: u32, interval: u64) -> u64 {
    let samples = u64::from(samples);
    (samples * 7 / 8).saturating_sub(1_700_000 / interval.max(1)).max(samples / 8)
}

/// How long the device must be idle between two dispatches: two intervals, so that one whole sample is idle.
pub(super) fn gap(interval: u64) -> Duration {
    Duration::from_nanos((interval * 2 + 500).saturating_sub(LAUNCH))
}

/// How many samples are decoded at once beside the device; `None` where that would not catch up.
pub(super) fn portion(samples: u32, interval: u64, far: bool) -> Option<u64> {
    (interval >= beside(far)).then_some(u64::from(samples) / if far { 8 } else { 4 })
}

/// The shortest interval at which decoding beside the device surely catches up.
pub(super) fn beside(far: bool) -> u64 {
    if far { BESIDE.1 } else { BESIDE.0 }
}

/// Without fences: the interval, and whether samples are taken in bursts, for dispatches that run this long, in nanoseconds
/// (0: not known). Long ones are sampled all the time, as often as decoding catches up with; of short ones that would say
/// nothing, so some are sampled often instead.
pub(super) fn unfenced(typical: u64, far: bool) -> (u64, bool) {
    let always = beside(far);
    if typical == 0 || typical >= always * WORTH { (always, false) } else { (OFTEN, true) }
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
    /// Nanoseconds between two samples, with or without counters of L2 or memory.
    pub(super) fn interval(&self, far: bool) -> u64 {
        self.interval.max(if far { SHORTEST_FAR } else { SHORTEST })
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
        assert_eq!((pace.interval(false), pace.interval(true)), (SHORTEST, SHORTEST_FAR));
        pace.saw(10 * MILLISECOND, 1024);
        let taken = 10 * MILLISECOND / pace.interval(false);
        assert!(pace.interval(false) > SHORTEST && taken <= 1024 / 8, "{taken} samples");
        pace.saw(1000 * MILLISECOND, 1024);
        assert!(1000 * MILLISECOND / pace.interval(false) < 10_000);
        assert!(
            gap(pace.interval(false)) + Duration::from_nanos(LAUNCH) > Duration::from_nanos(2 * pace.interval(false))
        );
    }

    #[test]
    fn what_waits_fits_an_image_with_what_comes_until_the_stop() {
        for (count, interval) in [(1024, SHORTEST), (512, SHORTEST), (1024, OFTEN), (1024, LONGEST)] {
            let most = limit(count, interval) + u64::from(count) / 8 + 1_600_000 / interval;
            assert!(most <= u64::from(count), "{most} of {count} at {interval} ns");
            assert!(limit(count, interval) >= 64);
        }
    }

    #[test]
    fn short_kernels_are_sampled_in_bursts_without_a_fence() {
        assert_eq!(unfenced(0, true), (beside(true), false));
        assert_eq!(unfenced(4_000, true), (OFTEN, true));
        assert_eq!(unfenced(5_000_000, true), (beside(true), false));
        assert_eq!(unfenced(200_000, false), (beside(false), false));
    }

    #[test]
    fn what_was_lost_lengthens_the_interval_within_bounds() {
        let mut pace = Pace::default();
        pace.crammed();
        assert_eq!(pace.interval(false), 2 * SHORTEST);
        (0..20).for_each(|_| pace.crammed());
        assert_eq!(pace.interval(true), LONGEST);
    }

    #[test]
    fn the_longest_interval_is_decoded_beside_the_device() {
        for far in [false, true] {
            assert!(portion(1024, LONGEST, far).is_some(), "a long kernel would fill the image");
            assert!(portion(1024, SHORTEST_FAR, far).is_none());
            assert!(portion(1024, beside(far), far).is_some());
        }
    }

    #[test]
    fn the_interval_changes_only_when_it_is_far_off() {
        let mut pace = Pace::default();
        pace.saw(10 * MILLISECOND, 1024);
        let interval = pace.interval(false);
        pace.saw(5 * MILLISECOND, 1024);
        assert_eq!(pace.interval(false), interval, "another programming costs more than it saves");
        pace.saw(5_000, 1024);
        assert!(pace.interval(false) < interval);
    }
}
