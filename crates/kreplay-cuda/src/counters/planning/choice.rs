//! Which metric is counted which way.
//!
//! Sampling costs a launch little and switching to another group much; ranges the other way round, as far as the
//! multiprocessors are concerned. And the two exclude each other: while sampling is enabled ranges answer that the hardware
//! is busy. So a plan that mixes them pays for switching there and back once a window.
//!
//! What ranges cost is told by [`super::price`].
//!
//! Finding out what fits takes CUPTI longer than a small program runs, so what cannot become cheapest is not packed: bounds
//! rest on a list of metrics needing at least the passes of a part of it.

use super::planner::Planner;
use super::price::{Price, session};
use super::range_group::{Group, cost};
use super::sample_group::SampleGroup;
use kreplay_engine::PlanError;
use std::sync::Arc;
use std::time::Duration;

/// Programming another group for sampling: the old one is disabled, the new one enabled (an H200's, as all of these;
/// `prices` of `bench/peers` measures it and a session, `inline` a dispatch).
const SWITCH: Duration = Duration::from_millis(120);
/// Starting and stopping.
const SESSION: Duration = Duration::from_micros(2_100);
/// What a dispatch costs: its fence, of a sample that decoding keeps up with or two, and what follows it.
const DISPATCH: Duration = Duration::from_micros(45);
/// Restoring memory for a pass, beside its counters.
const PASS: Duration = Duration::from_micros(40);

/// What is counted how.
pub(in crate::counters) struct Choice {
    pub(in crate::counters) sampled: Vec<SampleGroup>,
    pub(in crate::counters) ranges: Vec<Group>,
}

impl Choice {
    fn cost(&self, dispatches: u32) -> Duration {
        sampling(&self.sampled, self.ranges.is_empty(), dispatches)
            + ranges(&self.ranges, !self.sampled.is_empty(), dispatches)
    }

    /// What one dispatch costs in a sampled pass, in a window of this many.
    pub(in crate::counters) fn each_sampled(&self, dispatches: u32) -> Duration {
        let switched = self.sampled.len() > 1 || !self.ranges.is_empty();
        let window = SESSION + if switched { SWITCH } else { Duration::ZERO };
        DISPATCH + window / dispatches.max(1)
    }
}

/// What the sampled groups of a window cost.
fn sampling(groups: &[SampleGroup], alone: bool, dispatches: u32) -> Duration {
    let count = groups.len() as u32;
    // One group stays programmed; the order of several is turned round in every other window.
    let switches = if alone { count.saturating_sub(1) } else { count };
    let sampled = (SESSION + (DISPATCH + PASS) * dispatches) * groups.len() as u32;
    sampled + SWITCH * switches
}

/// What the passes by ranges of a window cost, beside sampled ones if `mixed`.
fn ranges(groups: &[Group], mixed: bool, dispatches: u32) -> Duration {
    let passes = groups.iter().map(|group| group.config.passes).sum::<u32>();
    cost(groups, dispatches, mixed) + PASS * dispatches * passes
}

/// The cheapest way for each metric, in windows of this many dispatches.
///
/// # Errors
/// [`PlanError`] with the metric that cannot be counted.
pub(in crate::counters) fn choose(
    planner: &Planner<'_>,
    metrics: &[Arc<str>],
    dispatches: u32,
) -> Result<Choice, PlanError> {
    let dispatches = dispatches.max(1);
    planner.ask_ahead(metrics);
    // What is only offered by sampling stays there.
    let unsampled = planner.pack(metrics, dispatches).map(|ranges| Choice { sampled: Vec::new(), ranges });
    let price = unsampled.as_ref().ok().map(|choice| choice.cost(dispatches));
    let worth = |rest: &[Arc<str>]| price.is_none_or(|price| least(planner, rest, dispatches) <= price);
    let groups = planner.pack_samples(metrics, &worth);
    let mut best = match unsampled {
        Ok(choice) if groups.is_empty() => return Ok(choice),
        Ok(choice) => choice,
        Err(_) => with_ranges(planner, metrics, groups.clone(), dispatches)?,
    };
    // Of choices that cost the same the one that samples everything is taken.
    if sampling(&groups, rest(metrics, &groups).is_empty(), dispatches) <= best.cost(dispatches)
        && let Ok(choice) = with_ranges(planner, metrics, groups.clone(), dispatches)
        && choice.cost(dispatches) <= best.cost(dispatches)
    {
        best = choice;
    }
    if groups.len() > 1 {
        // Where ranges are needed anyway they may as well take a group that samples dearly; and one group alone does not
        // need to be switched.
        for left in 0..groups.len() {
            let mut kept = groups.clone();
            let left = kept.remove(left);
            let bound = sampling(&kept, false, dispatches) + least_by_ranges(&left.metrics, dispatches);
            if bound < best.cost(dispatches)
                && let Ok(choice) = with_ranges(planner, metrics, kept, dispatches)
                && choice.cost(dispatches) < best.cost(dispatches)
            {
                best = choice;
            }
        }
    }
    Ok(best)
}

/// These groups sampled, and the rest by ranges.
fn with_ranges(
    planner: &Planner<'_>,
    metrics: &[Arc<str>],
    sampled: Vec<SampleGroup>,
    dispatches: u32,
) -> Result<Choice, PlanError> {
    let ranges = planner.pack(&rest(metrics, &sampled), dispatches)?;
    Ok(Choice { sampled, ranges })
}

/// The metrics that no group samples.
fn rest(metrics: &[Arc<str>], sampled: &[SampleGroup]) -> Vec<Arc<str>> {
    let taken = |metric: &Arc<str>| sampled.iter().any(|group| group.metrics.contains(metric));
    metrics.iter().filter(|metric| !taken(metric)).cloned().collect()
}

/// The least that sampling can cost where one group does not hold everything and `rest` is not offered.
fn least(planner: &Planner<'_>, rest: &[Arc<str>], dispatches: u32) -> Duration {
    let group = SESSION + (DISPATCH + PASS) * dispatches;
    let other = match planner.pack(rest, dispatches) {
        Ok(groups) if groups.is_empty() => group,
        Ok(groups) => ranges(&groups, true, dispatches),
        Err(_) => Duration::ZERO,
    };
    group + SWITCH + other
}

/// The least that these metrics can cost by ranges beside sampling.
fn least_by_ranges(metrics: &[Arc<str>], dispatches: u32) -> Duration {
    let pass = metrics.iter().map(|metric| Price::of(metric).pass(dispatches)).max().unwrap_or_default();
    session(dispatches) + pass + PASS * dispatches
}
