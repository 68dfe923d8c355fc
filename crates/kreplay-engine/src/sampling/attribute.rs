//! Attribution by time.

use super::runs::{check_order, check_whole, runs, widen};
use super::{Fence, Interval, Mismatch};
use std::ops::Range;

/// Gives each dispatch its intervals: from the first to the last active one inside its fence, widened by half of the idle
/// intervals to the next activity on either side (at most 8). The ranges are in order and do not overlap.
///
/// `tolerance` is how far the fences' edges may be off, in nanoseconds. Nothing but the
/// dispatches may have been submitted; see [`attribute_among`].
///
/// # Errors
/// [`Mismatch`]: then no interval is any dispatch's.
pub fn attribute(intervals: &[Interval], fences: &[Fence], tolerance: u64) -> Result<Vec<Range<usize>>, Mismatch> {
    attribute_among(intervals, fences, &[], tolerance)
}

/// Like [`attribute()`], where other things were submitted between dispatches: each in a span of `others`, with an idle gap
/// to every fence. Their activity is nobody's. A span may hold any activity, or none, and spans with no fence between
/// them count as one.
///
/// # Errors
/// [`Mismatch`].
pub fn attribute_among(
    intervals: &[Interval],
    fences: &[Fence],
    others: &[Fence],
    tolerance: u64,
) -> Result<Vec<Range<usize>>, Mismatch> {
    check_order(intervals)?;
    check_fences(fences)?;
    check_fences(others)?;
    check_covered(intervals, fences, tolerance)?;
    let others = joined(others, fences);
    let runs = split(intervals, runs(intervals), fences, &others, tolerance);
    let owners = owners(intervals, &runs, fences, &others, tolerance)?;
    let mut attributed = Vec::with_capacity(fences.len());
    let mut at = 0;
    for dispatch in 0..fences.len() {
        while owners.get(at).is_some_and(|owner| *owner == Owner::Nobody) {
            at += 1;
        }
        let first = at;
        while owners.get(at) == Some(&Owner::Dispatch(dispatch)) {
            at += 1;
        }
        if at == first {
            return Err(Mismatch::NoActivity { dispatch });
        }
        let own = runs[first].start..runs[at - 1].end;
        let before = first.checked_sub(1).map(|before| runs[before].end);
        let after = runs.get(at).map(|run| run.start);
        attributed.push(widen(&own, before, after, intervals.len()));
    }
    Ok(attributed)
}

/// The spans, with those made one that have no fence between them: what ran in them may run together.
fn joined(others: &[Fence], fences: &[Fence]) -> Vec<Fence> {
    let behind = |span: &Fence| fences.partition_point(|fence| fence.from < span.from);
    let mut joined: Vec<Fence> = Vec::with_capacity(others.len());
    for span in others {
        match joined.last_mut() {
            Some(last) if behind(last) == behind(span) => last.to = span.to,
            _ => joined.push(*span),
        }
    }
    joined
}

/// Whose a stretch of activity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Dispatch(usize),
    Nobody,
}

fn check_fences(fences: &[Fence]) -> Result<(), Mismatch> {
    let mut last = 0;
    for (at, fence) in fences.iter().enumerate() {
        if fence.from < last || fence.to < fence.from {
            return Err(Mismatch::Disorder { at });
        }
        last = fence.to;
    }
    Ok(())
}

/// Checks that there are samples, without a hole, for all the time that dispatches can have run.
fn check_covered(intervals: &[Interval], fences: &[Fence], tolerance: u64) -> Result<(), Mismatch> {
    let (Some(first), Some(last)) = (fences.first(), fences.last()) else { return Ok(()) };
    let (from, to) = (first.from.saturating_sub(tolerance), last.to.saturating_add(tolerance));
    let begin = intervals.partition_point(|interval| interval.end <= from);
    let end = intervals.partition_point(|interval| interval.start < to);
    // A clock that is off by its tolerance moves both edges; within it the samples may begin late or end early.
    let (surely_from, surely_to) = (first.from.saturating_add(tolerance), last.to.saturating_sub(tolerance));
    let inner = intervals.get(begin..end).filter(|inner| !inner.is_empty());
    let Some(inner) = inner else { return Err(Mismatch::Lost { from, to }) };
    let (earliest, latest) = (inner[0].start, inner[inner.len() - 1].end);
    if earliest > surely_from.min(first.to) {
        return Err(Mismatch::Lost { from, to: earliest });
    }
    if latest < surely_to.max(last.from) {
        return Err(Mismatch::Lost { from: latest, to });
    }
    check_whole(&intervals[begin.saturating_sub(1)..(end + 1).min(intervals.len())])
}

/// The runs, with those split where one sample is surely one dispatch's and the next one another's: no idle sample lies between
/// dispatches that are kept apart by the ends of samples.
fn split(
    intervals: &[Interval],
    runs: Vec<Range<usize>>,
    fences: &[Fence],
    others: &[Fence],
    tolerance: u64,
) -> Vec<Range<usize>> {
    // Whose a single sample is; `None` where that is not sure.
    let whose = |at: usize| {
        let interval = &intervals[at];
        let held = holding(fences, interval, interval, tolerance);
        match (held.len(), holding(others, interval, interval, tolerance).is_empty()) {
            (1, true) => Some(Owner::Dispatch(held.start)),
            (0, false) => Some(Owner::Nobody),
            _ => None,
        }
    };
    let mut parts = Vec::with_capacity(runs.len());
    for run in runs {
        let mut start = run.start;
        let owners: Option<Vec<Owner>> = run.clone().map(whose).collect();
        for (at, pair) in (start + 1..).zip(owners.iter().flat_map(|owners| owners.windows(2))) {
            if pair[0] != pair[1] {
                parts.push(start..at);
                start = at;
            }
        }
        parts.push(start..run.end);
    }
    parts
}

/// Says for each run whose it is.
fn owners(
    intervals: &[Interval],
    runs: &[Range<usize>],
    fences: &[Fence],
    others: &[Fence],
    tolerance: u64,
) -> Result<Vec<Owner>, Mismatch> {
    let mut ambiguous = None;
    let mut owners = Vec::with_capacity(runs.len());
    for run in runs {
        let (first, last) = (intervals[run.start], intervals[run.end - 1]);
        let held = holding(fences, &first, &last, tolerance);
        let nobodys = !holding(others, &first, &last, tolerance).is_empty();
        owners.push(match (held.len(), nobodys) {
            (1, false) => Owner::Dispatch(held.start),
            (0, true) => Owner::Nobody,
            (0, false) => return Err(misfit(intervals, run, fences, tolerance)),
            _ => {
                ambiguous = ambiguous.or(Some(held.start));
                Owner::Dispatch(held.start)
            }
        });
    }
    let Some(dispatch) = ambiguous else { return Ok(owners) };
    // Time alone does not tell. The order does, if there is one run for each dispatch and each fits in time.
    let fits = |(at, run): (usize, &Range<usize>)| {
        holding(fences, &intervals[run.start], &intervals[run.end - 1], tolerance).contains(&at)
    };
    if others.is_empty() && runs.len() == fences.len() && runs.iter().enumerate().all(fits) {
        return Ok((0..fences.len()).map(Owner::Dispatch).collect());
    }
    Err(Mismatch::Ambiguous { dispatch })
}

/// The fences that may hold a run of activity from `first` to `last`: it began within `first` and ended within `last`, not
/// before the fence and not behind it.
fn holding(fences: &[Fence], first: &Interval, last: &Interval, tolerance: u64) -> Range<usize> {
    // It began after `from`: `first.end` is behind it. It ended before `to`: `last.start` lies before it.
    let end = fences.partition_point(|fence| fence.from.saturating_sub(tolerance) < first.end);
    let start = fences.partition_point(|fence| fence.to.saturating_add(tolerance) <= last.start);
    start..end.max(start)
}

/// Why no fence holds this run.
fn misfit(intervals: &[Interval], run: &Range<usize>, fences: &[Fence], tolerance: u64) -> Mismatch {
    let (begin, end) = (intervals[run.start].start, intervals[run.end - 1].end);
    let touched = fences.partition_point(|fence| fence.to.saturating_add(tolerance) <= begin)
        ..fences.partition_point(|fence| fence.from.saturating_sub(tolerance) < end);
    match touched.len() {
        0 => Mismatch::Stray { at: begin },
        1 => Mismatch::Leaves { dispatch: touched.start },
        _ => Mismatch::Merged { first: touched.start },
    }
}
