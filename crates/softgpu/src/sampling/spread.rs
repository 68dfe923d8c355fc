//! Counts spread over intervals.

use std::collections::BTreeMap;

/// What is counted in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// By event.
    pub(super) counts: Vec<u64>,
    /// Nanoseconds in which something ran; more than the interval where several dispatches did.
    pub(super) busy: u64,
}

/// Intervals that are not told yet, by their start.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<u64, Content>);

impl Pending {
    /// Adds `counts`, spread evenly from `from` to `to`. Intervals are `interval` long and begin at `base`; what ran before
    /// that is not counted.
    pub(super) fn add(&mut self, base: u64, interval: u64, from: u64, to: u64, counts: &[u64]) {
        let to = to.max(from + 1);
        let length = u128::from(to - from);
        // What was counted up to a time: whole counts, so that the parts add up.
        let until = |count: u64, time: u64| (u128::from(count) * u128::from(time - from) / length) as u64;
        let mut start = base + (from.max(base) - base) / interval * interval;
        while start < to {
            let (left, right) = (start.max(from), (start + interval).min(to));
            let content = self.0.entry(start).or_default();
            content.counts.resize(counts.len(), 0);
            for (sum, count) in content.counts.iter_mut().zip(counts) {
                *sum += until(*count, right) - until(*count, left);
            }
            content.busy += right - left;
            start += interval;
        }
    }

    /// Takes out the interval that begins at `start`.
    pub(super) fn take(&mut self, start: u64) -> Content {
        self.0.remove(&start).unwrap_or_default()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_whatever_the_intervals() {
        for (from, to) in [(1000, 1001), (1000, 1007), (1003, 5555), (1999, 2000), (1500, 1500)] {
            for interval in [1, 7, 100, 10_000] {
                let mut pending = Pending::default();
                pending.add(1000, interval, from, to, &[12_345, 1, 0]);
                let sums: Vec<u64> =
                    (0..3).map(|event| pending.0.values().map(|content| content.counts[event]).sum()).collect();
                assert_eq!(sums, [12_345, 1, 0], "{from} {to} {interval}");
                assert_eq!(pending.0.values().map(|content| content.busy).sum::<u64>(), to.max(from + 1) - from);
                assert!(pending.0.keys().all(|start| (start - 1000) % interval == 0));
            }
        }
    }

    #[test]
    fn what_ran_before_the_first_interval_is_not_counted() {
        let mut pending = Pending::default();
        pending.add(1000, 100, 900, 1100, &[200]);
        assert_eq!(pending.take(1000), Content { counts: vec![100], busy: 100 });
        assert_eq!(pending.take(1000), Content::default());
    }
}
