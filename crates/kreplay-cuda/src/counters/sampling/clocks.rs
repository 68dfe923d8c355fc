//! The clock that events are told by, brought to the samples'.
//!
//! The two drift apart: by a microsecond a second on an H200, in which a window without fences may last for minutes.

use kreplay_engine::CountersError;
use kreplay_engine::sampling::Mismatch;

/// Clocks that both mean nanoseconds differ by less than this part.
const MOST_DRIFT: f64 = 1e-3;

/// When an event was recorded, by the samples' clock, and how far that may be off, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) at: u64,
    pub(super) slack: u64,
}

/// Between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clocks {
    base: u64,
    slack: u64,
    /// Nanoseconds of samples in one of events.
    rate: f64,
}

impl Clocks {
    /// Of two events that are `apart` by their own clock, in nanoseconds.
    ///
    /// # Errors
    /// [`CountersError::Discarded`]: a clock was set meanwhile.
    pub(super) fn new(base: Stamp, end: Stamp, apart: f64) -> Result<Self, CountersError> {
        let slack = base.slack.max(end.slack);
        let passed = end.at.saturating_sub(base.at) as f64;
        let same = (passed - apart).abs() <= apart * MOST_DRIFT + base.slack as f64 + end.slack as f64;
        if !same {
            return Err(Mismatch::Clock.into());
        }
        Ok(Self { base: base.at, slack, rate: if apart > 0.0 { passed / apart } else { 1.0 } })
    }

    /// The samples' time so many nanoseconds behind the first event.
    pub(super) fn at(&self, since: f64) -> u64 {
        self.base + (since.max(0.0) * self.rate).max(0.0).round() as u64
    }

    /// How far that may be off between the events.
    pub(super) fn slack(&self) -> u64 {
        self.slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn stamp(at: u64, slack: u64) -> Stamp {
        Stamp { at: 7 * SECOND + at, slack }
    }

    #[test]
    fn what_drifts_apart_in_a_long_window_is_brought_together() {
        // A microsecond a second, for ten minutes.
        let clocks = Clocks::new(stamp(0, 3_000), stamp(600 * SECOND + 600_000, 5_000), 600e9).expect("one clock");
        assert_eq!((clocks.at(0.0), clocks.at(300e9)), (7 * SECOND, 307 * SECOND + 300_000));
        assert_eq!((clocks.at(-5.0), clocks.slack()), (7 * SECOND, 5_000));
    }

    #[test]
    fn a_clock_that_was_set_tells_nothing() {
        let new = |at, apart| Clocks::new(stamp(0, 3_000), stamp(at, 3_000), apart);
        assert!(new(SECOND, 1e9 - 900_000.0).is_ok() && new(2_000, 5_000.0).is_ok());
        assert!(new(2 * SECOND, 1e9).is_err() && new(0, 1e9).is_err() && new(SECOND, f64::NAN).is_err());
    }
}
