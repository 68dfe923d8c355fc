//! How many dispatches the next batch window holds.
//!
//! A window switches the counters once a pass, and looks at memory, whatever it holds; so the longer the window, the less
//! of its time goes to that. Longer than needed is no gain: images of counters grow with it, and records come late. So
//! the length follows what was measured: as many dispatches as keep what is not running them at about a tenth.

use crate::{Plan, Way};
use std::time::Duration;

/// The least length, and the first, while nothing was measured.
const LEAST: u32 = 50;

/// The first length where passes are sampled: another group of counters takes a tenth of a second, and a dispatch a ten
/// thousandth.
const SAMPLED: u32 = 4000;

/// The first length where nothing is counted, so that there are no images to fill.
const UNCOUNTED: u32 = 500;

/// Dispatches of a window that is worth learning from.
const TELLING: u32 = 8;

/// Running dispatches takes this many times as long as the rest of a window, at least.
const SHARE: u32 = 9;

/// What a window cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WindowCost {
    /// Dispatches that it held.
    pub(crate) dispatches: u32,
    /// Beginning and ending each counted pass.
    pub(crate) switches: Vec<Duration>,
    /// Snapshot, write set, restores and checks.
    pub(crate) memory: Duration,
    /// Running the list in all replays; in a window of a single pass the time that it was open.
    pub(crate) run: Duration,
}

impl WindowCost {
    /// What does not grow with the dispatches. The dearest switch counts as the second dearest: the first one of a process, or of
    /// a set of counters, may take a hundred times as long as any that follows.
    fn fixed(&self) -> Duration {
        let mut switches = self.switches.clone();
        switches.sort();
        if let [.., second, dearest] = switches.as_mut_slice() {
            *dearest = *second;
        }
        self.memory + switches.iter().sum::<Duration>()
    }
}

/// The length of the next window, learnt from those that were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    /// Time of a window that does not grow with its dispatches, and time for each of them.
    learnt: Option<(Duration, Duration)>,
    /// What the last window was to hold.
    last: Option<u32>,
    /// The first.
    first: Option<u32>,
}

impl Length {
    /// For a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let sampled = plan.passes.iter().any(|pass| pass.way == Way::Sampling);
        let first = if sampled { Some(SAMPLED) } else { plan.passes.is_empty().then_some(UNCOUNTED) };
        Self { first, ..Self::default() }
    }

    /// How many dispatches the next window holds, at most `most`. The first one is short: what it costs is not known. The
    /// length stays while it is right by a quarter, so that counters can use their storage again.
    pub(crate) fn next(&mut self, most: u32) -> u32 {
        let wanted = match self.learnt {
            None => self.first.unwrap_or(LEAST),
            Some((fixed, dispatch)) => {
                let dispatches = (fixed * SHARE).as_nanos().div_ceil(dispatch.as_nanos().max(1));
                u32::try_from(dispatches).unwrap_or(u32::MAX)
            }
        };
        let right = |last: &u32| wanted.abs_diff(*last) <= last / 4;
        let length = self.last.filter(right).unwrap_or(wanted).max(LEAST).min(most.max(1));
        self.last = Some(length);
        length
    }

    /// A window ended.
    pub(crate) fn learn(&mut self, cost: &WindowCost) {
        if cost.dispatches < TELLING {
            return;
        }
        let (fixed, dispatch) = (cost.fixed(), cost.run / cost.dispatches);
        self.learnt = Some(match self.learnt {
            None => (fixed, dispatch),
            Some((known, each)) => ((known + fixed) / 2, (each + dispatch) / 2),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(dispatches: u32, switches_us: &[u64], memory_us: u64, run_us: u64) -> WindowCost {
        WindowCost {
            dispatches,
            switches: switches_us.iter().map(|us| Duration::from_micros(*us)).collect(),
            memory: Duration::from_micros(memory_us),
            run: Duration::from_micros(run_us),
        }
    }

    #[test]
    fn the_first_window_is_as_long_as_its_plan_makes_likely() {
        let pass = crate::PlannedPass { index: 0, counters: Vec::new(), way: Way::Sampling, price: Duration::ZERO };
        assert_eq!(Length::of(&Plan { passes: vec![pass] }).next(u32::MAX), 4000);
        let pass = crate::PlannedPass { index: 0, counters: Vec::new(), way: Way::Ranges, price: Duration::ZERO };
        assert_eq!(Length::of(&Plan { passes: vec![pass] }).next(u32::MAX), 50);
        assert_eq!(Length::of(&Plan::default()).next(u32::MAX), 500);
    }

    #[test]
    fn running_takes_nine_tenths_of_a_window() {
        let mut length = Length::default();
        assert_eq!(length.next(2000), 50);
        // Three passes of 10 ms to switch and 100 µs a dispatch each: 900 dispatches take 90 ms a pass.
        length.learn(&cost(50, &[10_000; 3], 0, 15_000));
        assert_eq!(length.next(2000), 900);
        length.learn(&cost(50, &[12_000; 3], 0, 15_000));
        assert_eq!(length.next(2000), 900, "990 is not worth other storage");
        assert_eq!(length.next(600), 600);
        assert_eq!(length.next(0), 1);
        // What memory takes counts as well.
        let mut length = Length::default();
        length.learn(&cost(100, &[1_000; 2], 2_000, 20_000));
        assert_eq!(length.next(2000), 180);
    }

    #[test]
    fn what_happens_once_is_not_typical() {
        let mut length = Length::default();
        length.learn(&cost(50, &[900_000, 1_000, 1_000], 0, 15_000));
        assert_eq!(length.next(2000), 90);
        // One that stays programmed does not hide what the others cost.
        let mut switched = Length::default();
        switched.learn(&cost(1000, &[0, 2_000, 100_000, 120_000], 0, 300_000));
        assert_eq!(switched.next(u32::MAX), 202 * 9 * 1000 / 300);
        // With one pass it is in there, until the next windows tell better.
        let mut single = Length::default();
        single.learn(&cost(50, &[900_000], 0, 5_000));
        assert_eq!(single.next(2000), 2000);
        for _ in 0..12 {
            single.learn(&cost(50, &[1_000], 0, 5_000));
        }
        let now = single.next(2000);
        assert!((90..115).contains(&now), "{now}");
    }

    #[test]
    fn what_cannot_be_measured_leaves_the_bounds() {
        let learnt = |cost: &WindowCost| {
            let mut length = Length::default();
            length.learn(cost);
            length
        };
        assert_eq!(learnt(&cost(100, &[1_000], 0, 0)).next(2000), 2000);
        assert_eq!(learnt(&cost(100, &[], 0, 1_000)).next(2000), 50);
        // Too short to tell anything.
        assert_eq!(learnt(&cost(3, &[1_000_000], 0, 1)), Length::default());
    }
}
