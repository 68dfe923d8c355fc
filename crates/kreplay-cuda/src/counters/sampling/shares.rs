//! Which part of the samples is a dispatch's where dispatches are not kept apart: time tells, to a bound.
//!
//! A sample that lies within one dispatch's time alone is its own. Of a sample that another one touches too, or that reaches
//! beyond the dispatch, the dispatch gets the share of the time that dispatches ran in it. What is certain and what is at
//! most possible bound the error.

use super::segment::Samples;
use kreplay_engine::sampling::Fence;
use std::ops::Range;

/// Sums of a dispatch, term by term.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// What it is held for.
    pub(super) sums: Vec<f64>,
    /// What is certainly its own.
    pub(super) certain: Vec<f64>,
    /// What is at most its own.
    pub(super) possible: Vec<f64>,
}

impl Share {
    /// How far the sum of a term may be off, relative to it; `None` where nothing bounds it.
    pub(super) fn bound(&self, term: usize) -> Option<f64> {
        let (sum, certain, possible) = (self.sums[term], self.certain[term], self.possible[term]);
        if possible == certain {
            return Some(0.0);
        }
        (sum > 0.0).then(|| (sum - certain).max(possible - sum) / sum)
    }
}

/// The share of each dispatch; `None` for those that no samples cover, or in whose samples nothing ran by the marker, which is the first
/// term: these are not of its time, and what they do not hold it may have. `slack`: how far a span may be off, in nanoseconds.
pub(super) fn shares(samples: &Samples, terms: usize, spans: &[Fence], slack: u64) -> Vec<Option<Share>> {
    let times = &samples.times;
    let touched = |span: &Fence| -> Range<usize> {
        let (from, to) = (span.from.saturating_sub(slack), span.to.saturating_add(slack));
        let first = times.partition_point(|(_, end)| *end <= from);
        first..times.partition_point(|(start, _)| *start < to).max(first)
    };
    let mut holders = vec![0u32; times.len()];
    let mut busy = vec![0u64; times.len()];
    for span in spans {
        for sample in touched(span) {
            holders[sample] += 1;
            busy[sample] += overlap(times[sample], span);
        }
    }
    let covered = |span: &Fence| {
        let own = &times[touched(span)];
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return false };
        first.0 <= span.from && last.1 >= span.to && own.windows(2).all(|pair| pair[1].0 - pair[0].1 <= slack)
    };
    let share = |span: &Fence| {
        let mut share = Share { sums: vec![0.0; terms], certain: vec![0.0; terms], possible: vec![0.0; terms] };
        for sample in touched(span) {
            let (start, end) = times[sample];
            let within = start >= span.from.saturating_add(slack) && end.saturating_add(slack) <= span.to;
            let alone = holders[sample] == 1;
            let part = match busy[sample] {
                0 => 1.0 / f64::from(holders[sample]),
                busy => overlap(times[sample], span) as f64 / busy as f64,
            };
            let values = &samples.values[sample * terms..(sample + 1) * terms];
            for (term, value) in values.iter().enumerate() {
                share.sums[term] += value * part;
                share.possible[term] += value;
                if alone && within {
                    share.certain[term] += value;
                }
            }
        }
        share
    };
    let seen = |share: &Share| share.possible.first().is_some_and(|active| *active > 0.0);
    spans.iter().map(|span| covered(span).then(|| share(span)).filter(seen)).collect()
}

/// Nanoseconds that a sample and a span have in common.
fn overlap((start, end): (u64, u64), span: &Fence) -> u64 {
    end.min(span.to).saturating_sub(start.max(span.from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of 1000 ns with one term, which counts `values`.
    fn samples(values: &[f64]) -> Samples {
        let times = (0..values.len() as u64).map(|at| (at * 1000, (at + 1) * 1000)).collect();
        Samples { times, values: values.to_vec(), ..Samples::default() }
    }

    fn span(from: u64, to: u64) -> Fence {
        Fence { from, to }
    }

    #[test]
    fn what_lies_within_a_dispatch_is_certain_and_its_borders_are_not() {
        let found = shares(&samples(&[0.0, 3.0, 10.0, 10.0, 4.0, 0.0]), 1, &[span(1500, 4400)], 0);
        let share = found[0].as_ref().expect("samples cover it");
        assert_eq!((share.sums[0], share.certain[0], share.possible[0]), (27.0, 20.0, 27.0));
        assert_eq!(share.bound(0), Some(7.0 / 27.0));
    }

    #[test]
    fn a_sample_of_two_is_shared_by_time() {
        let found = shares(&samples(&[0.0, 10.0, 8.0, 10.0, 0.0]), 1, &[span(1000, 2250), span(2250, 4000)], 0);
        let sums: Vec<f64> = found.iter().flatten().map(|share| share.sums[0]).collect();
        assert_eq!(sums, [12.0, 16.0]);
        assert_eq!(sums.iter().sum::<f64>(), 28.0, "nothing is counted twice");
        let bounds: Vec<f64> = found.iter().flatten().filter_map(|share| share.bound(0)).collect();
        for (bound, (sum, most)) in bounds.iter().zip([(12.0, 18.0), (16.0, 18.0)]) {
            assert!(sum * (1.0 + bound) >= most && sum * (1.0 - bound) <= 10.0);
        }
    }

    #[test]
    fn what_no_samples_cover_has_no_share() {
        let mut hole = samples(&[1.0; 6]);
        hole.times[3].0 += 500;
        let found = shares(&hole, 1, &[span(500, 1500), span(2500, 3800), span(5500, 6500)], 10);
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<bool>>(), [true, false, false]);
        let begins_in_it = shares(&hole, 1, &[span(3200, 4500)], 10);
        assert_eq!(begins_in_it, [None]);
    }

    #[test]
    fn what_stood_still_while_a_dispatch_ran_is_certain_to_be_zero() {
        // The marker and another term.
        let values = vec![0.0, 0.0, 7.0, 0.0, 9.0, 0.0, 0.0, 0.0];
        let found = shares(&Samples { values, ..samples(&[0.0; 4]) }, 2, &[span(1200, 2800)], 100);
        assert_eq!(found[0].as_ref().map(|share| (share.sums[1], share.bound(1))), Some((0.0, Some(0.0))));
    }

    #[test]
    fn samples_in_which_nothing_ran_tell_nothing_of_a_dispatch() {
        assert_eq!(shares(&samples(&[0.0; 4]), 1, &[span(1200, 2800)], 100), [None]);
        // What counts while nothing runs makes them no better.
        let values = vec![0.0, 5.0, 0.0, 5.0, 0.0, 5.0, 0.0, 5.0];
        assert_eq!(shares(&Samples { values, ..samples(&[0.0; 4]) }, 2, &[span(1200, 2800)], 100), [None]);
    }
}
