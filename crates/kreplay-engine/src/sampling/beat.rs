//! When the hardware takes its samples: where that is known, a gap between dispatches need not be longer than to the end of the
//! sample that the first of them ended in.

use std::time::Duration;

/// How far the end of a dispatch is from the end of its last sample at least, in nanoseconds: what it counted has arrived by then.
const SETTLED: u64 = 1_500;
/// How far the end of that sample is from the next dispatch at least, in nanoseconds.
const CLEAR: u64 = 1_000;

/// The ends of samples, on the clock that fences are told by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beat {
    end: u64,
    interval: f64,
}

impl Beat {
    /// How far clock and beat together may be off, in nanoseconds, so that no sample holds a part of two dispatches that are
    /// apart by [`Beat::gap`].
    pub const TOLERANCE: u64 = 700;

    /// A sample ended at `end`, and one ends every `interval` nanoseconds.
    ///
    /// # Panics
    /// `interval` is not positive.
    pub fn new(end: u64, interval: f64) -> Self {
        assert!(interval > 0.0, "an interval takes time");
        Self { end, interval }
    }

    /// How long, at `now`, the device must be idle after a dispatch that was over at `over`, so that the next one shares no sample
    /// with it.
    pub fn gap(&self, over: u64, now: u64) -> Duration {
        Duration::from_nanos((self.next(over + SETTLED) + CLEAR).saturating_sub(now))
    }

    /// The first end of a sample that is not before `time`.
    fn next(&self, time: u64) -> u64 {
        let since = time.saturating_sub(self.end) as f64;
        self.end + ((since / self.interval).ceil() * self.interval).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_ends_within_the_gap_and_far_from_both_dispatches() {
        let beat = Beat::new(1_000_000, 15_999.7);
        for over in (1_000_000..1_200_000).step_by(379) {
            let next = over + 300 + beat.gap(over, over + 300).as_nanos() as u64;
            let end = (0..20).map(|at| 1_000_000 + (f64::from(at) * 15_999.7) as u64).find(|end| *end >= over + 1_400);
            let end = end.expect("one of twenty");
            assert!(
                end - over >= 1_400 && next - end >= 900,
                "{over}: sample ends at {end}, dispatch begins at {next}"
            );
            assert!(end - over > 2 * Beat::TOLERANCE && next - end > Beat::TOLERANCE);
            assert!(next - over < 20_000, "no longer than it has to be");
        }
    }

    #[test]
    fn a_gap_that_is_over_takes_no_time() {
        assert_eq!(Beat::new(1_000, 16_000.0).gap(5_000, 900_000), Duration::ZERO);
    }
}
