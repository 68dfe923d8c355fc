//! Attribution by order alone.

use super::runs::{check_order, check_whole, runs, widen};
use super::{Interval, Mismatch};
use std::ops::Range;

/// Gives each of `count` dispatches its intervals: the first stretch of activity is the first dispatch's, and so on, each
/// widened by half of the idle intervals beside it, at most 8.
///
/// Legal only where nothing but the dispatches ran on the device and each is one stretch of activity. It cannot see two
/// dispatches that ran together while a third one fell apart; [`super::attribute()`] can.
///
/// # Errors
/// [`Mismatch::Runs`], [`Mismatch::Lost`], [`Mismatch::Disorder`].
pub fn attribute_by_order(intervals: &[Interval], count: usize) -> Result<Vec<Range<usize>>, Mismatch> {
    check_order(intervals)?;
    let runs = runs(intervals);
    // A hole may hide any number of dispatches, so it is told first.
    if let (Some(first), Some(last)) = (runs.first(), runs.last()) {
        let neighbours = first.start.saturating_sub(1)..(last.end + 1).min(intervals.len());
        check_whole(&intervals[neighbours])?;
    }
    if runs.len() != count {
        return Err(Mismatch::Runs { expected: count, found: runs.len() });
    }
    let end_of = |at: usize| runs.get(at).map(|run| run.end);
    let start_of = |at: usize| runs.get(at).map(|run| run.start);
    let widened = |(at, run): (usize, &Range<usize>)| {
        widen(run, at.checked_sub(1).and_then(end_of), start_of(at + 1), intervals.len())
    };
    Ok(runs.iter().enumerate().map(widened).collect())
}
