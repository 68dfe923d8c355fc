//! From a segment's samples to readings.
//!
//! A *segment* is what was sampled between one start of the hardware and its stop: a pass, or a part of one.

use super::collect::{Loss, Lost};
use super::pace::apart;
use crate::counters::planning::sample_group::SampleGroup;
use crate::counters::ranges::evaluate::exact;
use kreplay_engine::sampling::{Fence, Interval, attribute_among, attribute_by_order};
use kreplay_engine::{CountersError, Delivery, LostReadings, PlannedCounter, Reading};
use std::ops::Range;
use std::sync::Arc;

/// How far a fence may be off the samples' clock, in nanoseconds, where gaps are wide: both are CUPTI's, and agreed to 30 ns on an
/// H200.
pub(super) const TOLERANCE: u64 = 2_000;
/// Within this time after a dispatch was over all that it moved has been counted, in nanoseconds.
const LATE: u64 = 2_000;
/// Why a dispatch near a decoding has no values.
const TORN: &str = "samples were decoded as a dispatch ran, and may be incomplete";
/// Clocks that are this far apart are not the same one.
const UNRELATED: u64 = 1_000_000_000;

/// What the host knows of a segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) group: Arc<SampleGroup>,
    /// What is reported, in the order of the group's metrics.
    pub(super) counters: Arc<[PlannedCounter]>,
    /// The pass that the values are reported under.
    pub(super) pass: u32,
    /// Which dispatch the first fence is.
    pub(super) first: u32,
    /// When each dispatch can have run.
    pub(super) fences: Vec<Fence>,
    /// When other things can have run.
    pub(super) others: Vec<Fence>,
    /// How often samples are taken, in nanoseconds.
    pub(super) interval: u64,
    /// How far a fence may be off the samples' clock, in nanoseconds.
    pub(super) tolerance: u64,
}

/// Samples in the order that they were taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Samples {
    /// Begin and end of each, device clock, in nanoseconds.
    pub(super) times: Vec<(u64, u64)>,
    /// The terms of each, one sample after the other.
    pub(super) values: Vec<f64>,
    /// Where one decoding's samples end and the next one's begin, device clock, in nanoseconds.
    pub(super) cuts: Vec<u64>,
    /// Why others are missing behind them, if so.
    pub(super) lack: Option<&'static str>,
}

impl Segment {
    /// The readings of its dispatches, but for those whose samples were torn or are missing.
    ///
    /// # Errors
    /// [`CountersError::Discarded`] when samples and dispatches do not fit.
    pub(super) fn readings(&self, samples: &Samples) -> Result<Delivery, Loss> {
        self.check_clock(samples).map_err(|error| (Lost::Room, error))?;
        let covered = self.covered(samples);
        let attributed = self.attribute(samples, covered).map_err(|error| (Lost::Misfit, error))?;
        let mut lost = vec![samples.lack; self.fences.len()];
        lost[..covered].fill(None);
        self.tear(samples, &mut lost);
        let terms = self.group.terms.len();
        let mut readings = Vec::with_capacity(attributed.len() * self.counters.len());
        let mut sums = vec![0.0; terms];
        for ((dispatch, own), lost) in (self.first..).zip(attributed).zip(&lost) {
            if lost.is_some() {
                continue;
            }
            sums.fill(0.0);
            for sample in samples.values[own.start * terms..own.end * terms].chunks_exact(terms) {
                for (sum, value) in sums.iter_mut().zip(sample) {
                    *sum += value;
                }
            }
            for (formula, counter) in self.group.formulas.iter().zip(self.counters.iter()) {
                let sum = |term: &str| self.group.place(term).map_or(f64::NAN, |place| sums[place]);
                let Some(value) = formula.value(sum) else { continue };
                readings.push(Reading {
                    dispatch,
                    pass: self.pass,
                    counter: Arc::clone(&counter.name),
                    unit: Arc::clone(&counter.unit),
                    value: exact(&counter.name, value),
                    derived: formula.is_derived(),
                    bound: None,
                });
            }
        }
        Ok(Delivery { readings, lost: self.told(&lost) })
    }

    /// How many dispatches ran before samples are missing.
    fn covered(&self, samples: &Samples) -> usize {
        if samples.lack.is_none() {
            return self.fences.len();
        }
        let end = samples.times.last().map_or(0, |(_, end)| *end);
        self.fences.partition_point(|fence| fence.to.saturating_add(apart(self.interval)) <= end)
    }

    /// Which samples each of the first dispatches has, so many as are `covered`.
    fn attribute(&self, samples: &Samples, covered: usize) -> Result<Vec<Range<usize>>, CountersError> {
        if covered == 0 {
            return Ok(Vec::new());
        }
        if samples.times.is_empty() {
            return Err(CountersError::Discarded("the hardware took no samples".into()));
        }
        let terms = self.group.terms.len();
        let intervals: Vec<Interval> = samples
            .times
            .iter()
            .zip(samples.values.chunks_exact(terms))
            // The marker is the first term.
            .map(|(&(start, end), values)| Interval { start, end, active: values[0] > 0.0 })
            .collect();
        if self.is_unrelated(samples) && self.is_undisturbed() {
            // On the same clock they would overlap. The order tells too, if nothing but the dispatches ran.
            let attributed = attribute_by_order(&intervals, self.fences.len())?;
            return Ok(attributed.into_iter().map(|own| narrow(&intervals, own, u64::MAX)).collect());
        }
        // Of the first that lacks samples some may be there: they are nobody's, as those of other things.
        let (fences, lacking) = self.fences.split_at(covered);
        let mut others = [&self.others[..], lacking].concat();
        others.sort_by_key(|other| other.from);
        let attributed = attribute_among(&intervals, fences, &others, self.tolerance)?;
        let over = fences.iter().map(|fence| fence.to.saturating_add(LATE));
        Ok(attributed.into_iter().zip(over).map(|(own, over)| narrow(&intervals, own, over)).collect())
    }

    /// By another clock nobody can tell which dispatches lack samples.
    fn check_clock(&self, samples: &Samples) -> Result<(), CountersError> {
        let why = samples.lack.or((!samples.cuts.is_empty()).then_some(TORN));
        match why.filter(|_| self.is_unrelated(samples)) {
            Some(why) => Err(CountersError::Discarded(why.into())),
            None => Ok(()),
        }
    }

    /// Marks the dispatches whose samples were arriving as a decoding began: a part of them may be lost.
    fn tear(&self, samples: &Samples, lost: &mut [Option<&'static str>]) {
        let apart = apart(self.interval);
        for cut in &samples.cuts {
            let before = self.fences.partition_point(|fence| fence.to.saturating_add(apart) <= *cut);
            let behind = self.fences.partition_point(|fence| fence.from < cut.saturating_add(apart));
            lost[before..behind.max(before)].iter_mut().for_each(|lost| *lost = lost.or(Some(TORN)));
        }
    }

    /// What is lost, dispatches in a row at once.
    fn told(&self, lost: &[Option<&'static str>]) -> Vec<LostReadings> {
        let (mut told, mut at) = (Vec::new(), self.first);
        for alike in lost.chunk_by(|one, next| one == next) {
            let dispatches = at..at + alike.len() as u32;
            at = dispatches.end;
            let why = alike.first().copied().flatten();
            told.extend(
                why.map(|why| LostReadings { dispatches: Some(dispatches), why: CountersError::Discarded(why.into()) }),
            );
        }
        told
    }

    /// Whether nothing was submitted before the last dispatch.
    fn is_undisturbed(&self) -> bool {
        let last = self.fences.last().map_or(0, |fence| fence.to);
        self.others.iter().all(|other| other.from >= last)
    }

    /// Whether the samples were taken by another clock than the fences.
    fn is_unrelated(&self, samples: &Samples) -> bool {
        let (Some(first), Some(sampled)) = (self.fences.first(), samples.times.first()) else { return false };
        first.from.abs_diff(sampled.0) > UNRELATED
    }

    /// The longest that a dispatch can have run, in nanoseconds.
    pub(super) fn longest(&self) -> u64 {
        self.fences.iter().map(|span| span.to - span.from).max().unwrap_or(0)
    }
}

/// What is a dispatch's of the samples that are nobody else's: those with activity, and one behind them that begins before all of
/// it was counted: what reaches the second-level cache and memory comes up to one sample later, and nothing of it earlier. Idle
/// samples hold what the host and the hardware move there.
///
/// Nothing is taken off for that: it comes in bursts, most of it as the host gets something ready, and next to nothing while it waits
/// for a dispatch. By the rate of idle samples a long dispatch would lose more than it has (H200).
fn narrow(intervals: &[Interval], own: Range<usize>, over: u64) -> Range<usize> {
    let active = |index: &usize| intervals[*index].active;
    let first = own.clone().find(active).unwrap_or(own.start);
    let last = own.clone().rev().find(active).unwrap_or(first);
    let late = intervals.get(last + 1).is_some_and(|next| next.start < over);
    first..(last + 1 + usize::from(late)).min(own.end.max(last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of 10 µs; those of the range are active.
    fn intervals(active: Range<u64>) -> Vec<Interval> {
        let interval = |at| Interval { start: at * 10_000, end: (at + 1) * 10_000, active: active.contains(&at) };
        (0..10).map(interval).collect()
    }

    #[test]
    fn a_dispatch_has_the_idle_sample_behind_it_only_if_it_was_not_over_before() {
        for (over, expected) in [(58_000, 4..6), (59_999, 4..6), (60_001, 4..7), (69_000, 4..7), (u64::MAX, 4..7)] {
            assert_eq!(narrow(&intervals(4..6), 2..8, over), expected, "over at {over} ns");
        }
        assert_eq!(narrow(&intervals(4..6), 2..6, u64::MAX), 4..6, "the next sample is somebody else's");
        assert_eq!(narrow(&intervals(8..10), 7..10, u64::MAX), 8..10, "there is no next sample");
    }
}
