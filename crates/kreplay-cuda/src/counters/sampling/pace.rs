//! How often samples are taken.
//!
//! A short interval needs a short gap between dispatches, but each sample costs the thread that decodes it 9 to 15 µs for counters of
//! memory and 17 to 30 µs for those and some of the multiprocessors, however long it is (seen on H200s, in virtual machines: on some
//! of the CPUs it takes 1.4 times as long as on the others, which ones changes within seconds, and nothing of ours is the reason). So
//! where a sample takes longer to decode than to come, the thread moves on to another CPU. What does not fit a counter image when it is
//! decoded is lost, so no more samples may wait than an image holds.
//!
//! Decoding takes what waits when it begins. Of samples that are arriving just then a part is lost, without a word (seen on an
//! H200: a sample of which only some multiprocessors were counted). So a portion is decoded in a gap between dispatches that is
//! long enough for everything to have arrived, and the device goes on while it is decoded. Where decoding falls behind, the
//! hardware is stopped now and then, and the device waits. That costs as much as hundreds of samples, but what waits until then costs
//! nothing: so the interval is about what decoding takes, not more, and a stop is rare. A dispatch that is not over within
//! its sample takes another interval, so that where decoding is not much faster than the shortest one it is long enough for most short
//! dispatches on a slow host too. Another interval is another programming of the hardware, so it changes only when it is far off.

use std::time::Duration;

/// The shortest interval, in nanoseconds: a short kernel's fence and its gap fit a sample of it (13 to 17 µs on an H200).
const SHORTEST: u64 = 20_000;
/// … where decoding would not keep up with that on a slower CPU. It fits more: the fence of one kernel in five takes 15 to 20 µs where
/// the host is slow, and its gap 3.
const SHORTEST_DEAR: u64 = 24_000;
/// The longest, for kernels that run for seconds: nothing is decoded while one runs.
const LONGEST: u64 = 16_384_000;
/// … where dispatches are not kept apart, in nanoseconds.
const STEADY: u64 = SHORTEST << 3;
/// Bytes of the hardware's buffer. A sample takes 2 to 7 KiB of it (H200), so it holds more samples than an image.
pub(super) const BUFFER: usize = 16 << 20;
/// Between its submission and its beginning a launch takes at least this long on an idle device, in nanoseconds.
const LAUNCH: u64 = 5_000;
/// Intervals are multiples of this, in nanoseconds.
const STEP: u64 = 500;
/// What decoding a sample of counters of the multiprocessors is likely to take before that was seen, in nanoseconds (17 to 30 µs on H200s).
const LIKELY: u64 = 28_000;
/// … of L2 and memory alone (9 to 15 µs).
const LIKELY_FAR: u64 = 16_000;
/// How long what was counted in a sample may take to arrive, in nanoseconds.
const ARRIVAL: u64 = 100_000;
/// Intervals around a decoding in which a sample may be incomplete.
const UNSURE: u64 = 3;
/// How long the hardware takes to stop, in nanoseconds, and may go on sampling.
const STOP: u64 = 1_700_000;
/// Samples of a dispatch that tell something.
const WORTH: u64 = 4;
/// Samples that are decoded early to learn when samples end, which makes gaps shorter from then on.
const LEARNT: u64 = 24;
/// The longest interval that this is done for, in nanoseconds: what was learnt is old soon, and a decoding takes some intervals.
const LEARNING: u64 = 1_000_000;
/// Every so many dispatches the gap holds an idle sample all the same.
pub(super) const LOOK: u32 = 64;
/// The interval of bursts, in nanoseconds.
const OFTEN: u64 = 4_000;

/// Samples that an image holds, for windows of this many dispatches: images are 20 to 55 KB a sample, and are emptied whole,
/// however few samples came to be in one.
pub(super) fn samples(dispatches: u32) -> u32 {
    if dispatches <= FEW { SAMPLES / 4 } else { SAMPLES }
}

/// … of a long window.
pub(super) const SAMPLES: u32 = 1024;
/// Dispatches of a window that needs few samples.
const FEW: u32 = 8;

/// What decoding a sample is likely to take, where `near` it counts the multiprocessors, in nanoseconds.
pub(super) fn likely(near: bool) -> u64 {
    if near { LIKELY } else { LIKELY_FAR }
}

/// How many samples may wait before the hardware is stopped. Until it has stopped come those of one dispatch, an eighth of an
/// image at most, and those of the stop itself. And where as many are being decoded, it can be stopped only behind that: so
/// they fit an image too if decoding takes 1.4 times as long as they took to come.
pub(super) fn limit(samples: u32, interval: u64) -> u64 {
    let samples = u64::from(samples);
    (samples * 5 / 8).saturating_sub(STOP / interval.max(1)).max(samples / 8)
}

/// How many samples may wait while a dispatch runs before they are decoded all the same. The dispatch loses its values by that; those
/// before it keep theirs.
pub(super) fn most(samples: u32) -> u64 {
    u64::from(samples) * 31 / 32
}

/// Whether an image does not hold the samples of a dispatch that ran for `longest` nanoseconds, even if none waited before it.
pub(super) fn outgrows(longest: u64, interval: u64, samples: u32) -> bool {
    (longest + STOP) / interval.max(1) >= u64::from(samples) * 7 / 8
}

/// How long the device must be idle between two dispatches while nobody knows when samples end: two intervals, so that one whole
/// sample is idle.
pub(super) fn gap(interval: u64) -> Duration {
    Duration::from_nanos((interval * 2 + 500).saturating_sub(LAUNCH))
}

/// Whether so many samples wait that a portion of them is worth an image.
pub(super) fn portion(waiting: u64, samples: u32) -> bool {
    waiting >= tried(samples)
}

/// Whether so many samples tell when others end.
pub(super) fn teaches(waiting: u64, interval: u64) -> bool {
    waiting >= LEARNT && interval <= LEARNING
}

/// Samples of a trial that tells what decoding takes: as many as a portion has, since a part of it does not depend on them.
pub(super) fn tried(samples: u32) -> u64 {
    u64::from(samples) * 3 / 8
}

/// On how many CPUs decoding is tried at most, until one is fast enough.
pub(super) const TRIES: usize = 4;

/// Whether another CPU should be tried: decoding a sample takes longer, in nanoseconds, than until the next one comes.
pub(super) fn falls_behind(cost: u64, interval: u64) -> bool {
    cost > interval
}

/// Whether an interval is so short that decoding a sample may take longer: a trial says nothing of others, and takes as many of them.
pub(super) fn needs_trial(interval: u64) -> bool {
    interval <= LIKELY * 4
}

/// How long before and after the beginning of a decoding nothing may run: what was counted has arrived before it, and what comes is
/// whole.
pub(super) fn settled(interval: u64) -> Duration {
    Duration::from_nanos(interval * UNSURE + ARRIVAL)
}

/// How far from the end of the last sample of a decoding a dispatch must be, in nanoseconds.
pub(super) fn apart(interval: u64) -> u64 {
    interval * UNSURE
}

/// The interval without fences, for dispatches that run this long, in nanoseconds (0: not known). Long ones are sampled all
/// the time, as often as decoding catches up with; of short ones that would say nothing, so some are sampled often instead.
pub(super) fn unfenced(typical: u64, far: bool) -> u64 {
    let always = if far { STEADY } else { SHORTEST * 2 };
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
    /// Nanoseconds between two samples of which decoding one takes `cost`. Where the hardware is programmed for another
    /// interval that will do, `programmed`, that stays.
    pub(super) fn interval(&self, cost: u64, programmed: Option<u64>) -> u64 {
        // Most decodings are longer than the one that told, and a part of the cost is each one's.
        let keeping_up = (cost * 15 / 16).next_multiple_of(STEP);
        let shortest = if cost <= SHORTEST * 4 / 5 { SHORTEST } else { SHORTEST_DEAR };
        let wanted = self.interval.max(keeping_up).max(shortest).min(LONGEST);
        programmed.filter(|known| wanted <= known * 5 / 4 && *known < wanted * 4).unwrap_or(wanted)
    }

    /// More samples waited than was expected: fewer are taken, but for a single time that another programming would cost more than.
    pub(super) fn crammed(&mut self) {
        self.interval = (self.interval * 3 / 2).min(LONGEST);
    }

    /// A dispatch ran for `longest` nanoseconds, the longest of its pass, and images hold this many samples.
    pub(super) fn saw(&mut self, longest: u64, samples: u32) {
        let wanted = longest / u64::from(samples / 8).max(1);
        let mut fitting = SHORTEST;
        while fitting < wanted && fitting < LONGEST {
            fitting *= 2;
        }
        let fitting = fitting.min(LONGEST);
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
        pace.saw(4_000, SAMPLES);
        assert_eq!(interval(&pace), SHORTEST);
        for longest in [10 * MILLISECOND, 1_000 * MILLISECOND, 10_000 * MILLISECOND] {
            pace.saw(longest, SAMPLES);
            let taken = longest / interval(&pace);
            assert!(
                interval(&pace) > SHORTEST && taken <= u64::from(SAMPLES) * 5 / 8,
                "{taken} samples of {longest} ns"
            );
        }
        assert!(gap(interval(&pace)) + Duration::from_nanos(LAUNCH) > Duration::from_nanos(2 * interval(&pace)));
    }

    /// Of counters that are decoded fast.
    fn interval(pace: &Pace) -> u64 {
        pace.interval(5_000, None)
    }

    #[test]
    fn the_interval_is_about_what_decoding_takes() {
        let pace = Pace::default();
        for cost in [22_000, 28_000, 35_000, 80_000] {
            let interval = pace.interval(cost, None);
            assert!(interval >= cost * 15 / 16 && interval <= (cost + STEP).max(SHORTEST_DEAR), "{interval} at {cost}");
        }
        assert_eq!(pace.interval(likely(false), None), SHORTEST, "L2 and memory alone are likely to keep up with any");
        assert_eq!(pace.interval(17_000, None), SHORTEST_DEAR, "on a slower CPU it would not keep up");
        assert_eq!(pace.interval(28_000, None), 26_500);
        assert_eq!(pace.interval(25_000, Some(36_000)), 36_000, "another programming costs more");
        assert_eq!(pace.interval(30_000, Some(20_000)), 28_500, "decoding does not keep up");
        assert_eq!(pace.interval(200_000_000, None), LONGEST);
    }

    #[test]
    fn what_waits_fits_an_image_with_what_comes_until_the_stop() {
        for (count, interval) in [(1024, SHORTEST), (2048, SHORTEST), (512, SHORTEST), (1024, OFTEN), (1024, LONGEST)] {
            let limit = limit(count, interval);
            let until_stopped = u64::from(count) / 8 + STOP / interval;
            assert!(limit + until_stopped <= u64::from(count) * 7 / 8, "{limit} of {count} at {interval} ns");
            let behind_a_decoding = limit * 7 / 5 + until_stopped;
            assert!(behind_a_decoding <= u64::from(count), "{behind_a_decoding} of {count} at {interval} ns");
            assert!(limit >= 64);
        }
    }

    #[test]
    fn what_outgrows_an_image_fits_the_interval_that_it_asks_for() {
        for samples in [SAMPLES, SAMPLES / 4] {
            let mut pace = Pace::default();
            let short = SHORTEST * u64::from(samples) / 2;
            assert!(!outgrows(short, SHORTEST, samples));
            for longest in [SHORTEST * u64::from(samples), 30 * MILLISECOND, 900 * MILLISECOND] {
                assert!(outgrows(longest, SHORTEST, samples));
                pace.saw(longest, samples);
                assert!(!outgrows(longest, interval(&pace), samples), "{longest} ns in {samples} samples");
            }
        }
    }

    #[test]
    fn a_portion_is_decoded_before_the_hardware_has_to_be_stopped() {
        for interval in [SHORTEST, SHORTEST_DEAR, 36_000, LONGEST] {
            let due = (0..).find(|waiting| portion(*waiting, SAMPLES)).expect("some number");
            assert!(due + u64::from(SAMPLES) / 8 <= limit(SAMPLES, interval), "{due} at {interval} ns");
            assert!(settled(interval) > Duration::from_nanos(apart(interval)));
        }
    }

    #[test]
    fn short_kernels_are_sampled_often_without_a_fence() {
        assert_eq!(unfenced(0, true), STEADY);
        assert_eq!(unfenced(4_000, true), OFTEN);
        assert_eq!(unfenced(5_000_000, true), STEADY);
        assert_eq!(unfenced(200_000, false), SHORTEST * 2);
    }

    #[test]
    fn what_was_lost_lengthens_the_interval_within_bounds() {
        let mut pace = Pace::default();
        pace.crammed();
        assert_eq!(interval(&pace), SHORTEST * 3 / 2);
        assert_eq!(pace.interval(20_000, Some(SHORTEST_DEAR)), SHORTEST_DEAR, "the host may have been slow for once");
        pace.crammed();
        assert!(pace.interval(20_000, Some(SHORTEST_DEAR)) > SHORTEST_DEAR);
        (0..20).for_each(|_| pace.crammed());
        assert_eq!(interval(&pace), LONGEST);
    }

    #[test]
    fn the_interval_changes_only_when_it_is_far_off() {
        let mut pace = Pace::default();
        pace.saw(30 * MILLISECOND, SAMPLES);
        let before = interval(&pace);
        pace.saw(15 * MILLISECOND, SAMPLES);
        assert_eq!(interval(&pace), before, "another programming costs more than it saves");
        pace.saw(5_000, SAMPLES);
        assert!(interval(&pace) < before);
    }
}
