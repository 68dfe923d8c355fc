//! How long an interval is: a short one needs a short gap, a long one makes few samples of a long kernel.

/// The shortest, in nanoseconds. Every other one is this times a power of two.
const SHORTEST: u64 = 20_000;
/// The longest.
const LONGEST: u64 = SHORTEST << 7;
/// Samples of a dispatch above which the interval grows.
const MOST: u64 = 4096;

/// What was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace(u64);

impl Default for Pace {
    fn default() -> Self {
        Self(SHORTEST)
    }
}

impl Pace {
    /// Nanoseconds of an interval.
    pub(super) fn interval(self) -> u64 {
        self.0
    }

    /// The longest dispatch of a pass took this long. Another interval is another programming, so it changes only when it
    /// is far off.
    pub(super) fn saw(&mut self, longest: u64) {
        let mut fitting = SHORTEST;
        while longest / fitting > MOST && fitting < LONGEST {
            fitting *= 2;
        }
        if fitting > self.0 || fitting * 8 <= self.0 {
            self.0 = fitting;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_dispatches_have_long_intervals() {
        let mut pace = Pace::default();
        pace.saw(1_000_000);
        assert_eq!(pace.interval(), SHORTEST);
        pace.saw(2_000_000_000);
        let long = pace.interval();
        assert!(2_000_000_000 / long <= MOST);
        pace.saw(1_000_000_000);
        assert_eq!(pace.interval(), long);
        pace.saw(1_000);
        assert_eq!(pace.interval(), SHORTEST);
        pace.saw(u64::MAX);
        assert_eq!(pace.interval(), LONGEST);
    }
}
