//! Stretches of activity, and the holes between samples.

use super::{Interval, Mismatch};
use std::ops::Range;

/// Most idle intervals that are added on either side of a dispatch's activity. Counters of other units lag by less, and
/// what an idle device counts in a longer gap is nobody's.
pub(super) const LAG: usize = 8;

/// Checks that the intervals follow one another.
pub(super) fn check_order(intervals: &[Interval]) -> Result<(), Mismatch> {
    let mut last = 0;
    for (at, interval) in intervals.iter().enumerate() {
        if interval.start < last || interval.end <= interval.start {
            return Err(Mismatch::Disorder { at });
        }
        last = interval.end;
    }
    Ok(())
}

/// Checks that no sample is missing among these intervals. The hardware's stamps are not exact: a hole counts from half a
/// sample on.
pub(super) fn check_whole(intervals: &[Interval]) -> Result<(), Mismatch> {
    for pair in intervals.windows(2) {
        let [left, right] = [pair[0], pair[1]];
        let shorter = (left.end - left.start).min(right.end - right.start);
        if right.start - left.end >= shorter.div_ceil(2) {
            return Err(Mismatch::Lost { from: left.end, to: right.start });
        }
    }
    Ok(())
}

/// The longest stretches of active intervals, in order.
pub(super) fn runs(intervals: &[Interval]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, interval) in intervals.iter().enumerate() {
        match runs.last_mut() {
            _ if !interval.active => {}
            Some(run) if run.end == index => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// Widens what belongs to a dispatch by half of the idle intervals to the neighbours' activity, at most [`LAG`] of them on
/// either side.
///
/// `before` is where the activity before it ends, `after` where the activity behind it begins, both as indices.
pub(super) fn widen(own: &Range<usize>, before: Option<usize>, after: Option<usize>, total: usize) -> Range<usize> {
    // The odd one goes to the left neighbour: what lags comes behind the activity.
    let left = before.map_or(own.start, |before| (own.start - before) / 2);
    let right = after.map_or(total - own.end, |after| (after - own.end).div_ceil(2));
    own.start - left.min(LAG)..own.end + right.min(LAG)
}
