//! Learns when samples end, from those that were decoded.
//!
//! The hardware counts its own clock, which runs a little differently from the one that samples and fences are told by (20 parts
//! in a million on an H200). So what is learnt holds for a while: for as long as it took to learn how the two differ.

use kreplay_engine::sampling::Beat;

/// How long the end of a sample tells when others end though the clocks were not compared, in nanoseconds: while a portion is
/// decoded, what is known is as old as it and the one before.
const FRESH: u64 = 24_000_000;
/// How far apart two samples must be at least to compare the clocks, in nanoseconds.
const TELLING: u64 = 4_000_000;
/// Clocks that differ by more than this part are not compared: a sample is missing.
const MOST_DRIFT: f64 = 1e-3;
/// Clocks that are this far apart are not the same one, in nanoseconds.
const UNRELATED: u64 = 1_000_000_000;

/// What is known of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tempo {
    /// Nanoseconds that pass while the hardware counts one.
    rate: f64,
    /// For how long that is good enough.
    known_for: u64,
    /// Ends of samples since the start: the first one's, and that of the last one that was decoded.
    ends: Option<(u64, u64)>,
}

impl Default for Tempo {
    fn default() -> Self {
        Self { rate: 1.0, known_for: FRESH, ends: None }
    }
}

impl Tempo {
    /// The hardware is started: its samples end at other times than before.
    pub(super) fn restart(&mut self) {
        self.ends = None;
    }

    /// A decoding's samples ended from `first` to `end`, and are `interval` apart by the hardware's clock.
    pub(super) fn saw(&mut self, first: u64, end: u64, interval: u64) {
        let first = self.ends.map_or(first, |(first, _)| first);
        self.ends = Some((first, end));
        let took = end.saturating_sub(first);
        if took < TELLING {
            return;
        }
        let interval = interval as f64;
        let rate = took as f64 / ((took as f64 / interval).round() * interval);
        // So far apart the number of samples between them may be off by one.
        let sure = (rate - self.rate).abs() * (took as f64) < interval / 4.0;
        if sure && (rate - 1.0).abs() < MOST_DRIFT {
            (self.rate, self.known_for) = (rate, took.max(FRESH));
        } else {
            self.ends = Some((end, end));
        }
    }

    /// When samples end, as far as that is known at `now`.
    pub(super) fn beat(&self, now: u64, interval: u64) -> Option<Beat> {
        let (_, end) = self.ends?;
        let age = now.abs_diff(end);
        (age <= self.known_for && age < UNRELATED).then(|| Beat::new(end, interval as f64 * self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: u64 = 16_000;

    /// The end of sample `at` of hardware whose clock differs.
    fn end(at: u64, rate: f64) -> u64 {
        7_000_000 + (at as f64 * INTERVAL as f64 * rate) as u64
    }

    #[test]
    fn nothing_is_known_before_a_sample_was_decoded_nor_long_after() {
        let mut tempo = Tempo::default();
        assert_eq!(tempo.beat(1_000, INTERVAL), None);
        tempo.saw(end(1, 1.0), end(9, 1.0), INTERVAL);
        assert!(tempo.beat(end(9, 1.0) + FRESH, INTERVAL).is_some());
        assert_eq!(tempo.beat(end(9, 1.0) + FRESH + 1, INTERVAL), None);
        assert_eq!(tempo.beat(end(9, 1.0) + UNRELATED, INTERVAL), None, "another clock");
        tempo.restart();
        assert_eq!(tempo.beat(end(9, 1.0), INTERVAL), None);
    }

    #[test]
    fn the_hardwares_clock_is_learnt() {
        let (mut tempo, rate) = (Tempo::default(), 1.0 - 20e-6);
        (0..20).for_each(|at| tempo.saw(end(at * 400 - 399 * at.min(1), rate), end(at * 400, rate), INTERVAL));
        let over = end(19 * 400, rate) + 90_000_000;
        // Where a sample ends within the next interval, and how long the gap to it is.
        let gap = tempo.beat(over, INTERVAL).expect("known long enough").gap(over, over).as_nanos() as u64;
        let found = (7600..).map(|at| end(at, rate)).find(|end| *end >= over + 1_500).expect("they go on");
        assert!((over + gap).abs_diff(found + 1_000) < 300, "{gap}");
    }

    #[test]
    fn a_single_decoding_may_tell() {
        let mut tempo = Tempo::default();
        tempo.saw(end(1, 1.0 + 50e-6), end(401, 1.0 + 50e-6), INTERVAL);
        assert!((tempo.rate - 1.0 - 50e-6).abs() < 1e-6, "{}", tempo.rate);
    }

    #[test]
    fn a_missing_sample_is_no_drift() {
        let mut tempo = Tempo::default();
        tempo.saw(end(0, 1.0), end(9, 1.0), INTERVAL);
        tempo.saw(end(10, 1.0), end(400, 1.0) + INTERVAL / 2, INTERVAL);
        assert_eq!(tempo.rate, 1.0);
        let again = end(400, 1.0) + INTERVAL / 2;
        assert_eq!(tempo.beat(again, INTERVAL), Some(Beat::new(again, INTERVAL as f64)));
    }
}
