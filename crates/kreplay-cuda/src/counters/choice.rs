//! Which metric is counted which way.
//!
//! Sampling costs a launch little and switching to another group much; ranges the other way round, as far as the
//! multiprocessors are concerned. And the two exclude each other: while sampling is enabled ranges answer that the hardware
//! is busy. So a plan that mixes them pays for switching there and back once a window.

use super::host::{ConfigImage, Host, Names};
use super::planner::{Group, Planner, cost};
use super::sampling::SampleGroup;
use super::sampling::formula::{Formula, MARKERS};
use super::sampling::group::{Asked, is_far, terms};
use kreplay_engine::PlanError;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Programming another group for sampling: the old one is disabled, the new one enabled (measured, H200, as all of these).
const SWITCH: Duration = Duration::from_millis(120);
/// Starting and stopping.
const SESSION: Duration = Duration::from_micros(2_100);
/// What a dispatch costs: the fence, and about three samples to decode.
const NEAR: Duration = Duration::from_micros(45);
/// … with counters of the second-level cache or memory, which many units have.
const FAR: Duration = Duration::from_micros(115);
/// Restoring memory for a pass, beside its counters.
const PASS: Duration = Duration::from_micros(40);

/// What is counted how.
pub(super) struct Choice {
    pub(super) sampled: Vec<SampleGroup>,
    pub(super) ranges: Vec<Group>,
}

impl Choice {
    fn cost(&self, dispatches: u32) -> Duration {
        let switches = match (self.sampled.len() as u32, self.ranges.is_empty()) {
            // One group stays programmed; the order of several is turned round in every other window.
            (count, true) => count.saturating_sub(1),
            (count, false) => count,
        };
        let sampled = self.sampled.iter().map(|group| SESSION + each(group) * dispatches).sum::<Duration>();
        let passes = self.sampled.len() as u32 + self.ranges.iter().map(|group| group.config.passes).sum::<u32>();
        sampled
            + SWITCH * switches
            + cost(&self.ranges, dispatches, !self.sampled.is_empty())
            + PASS * dispatches * passes
    }

    /// What one dispatch costs in a sampled pass, in a window of this many.
    pub(super) fn each_sampled(&self, group: &SampleGroup, dispatches: u32) -> Duration {
        let switched = self.sampled.len() > 1 || !self.ranges.is_empty();
        let window = SESSION + if switched { SWITCH } else { Duration::ZERO };
        each(group) + window / dispatches.max(1)
    }
}

fn each(group: &SampleGroup) -> Duration {
    if group.is_far() { FAR } else { NEAR }
}

/// The cheapest way for each metric, in windows of this many dispatches.
///
/// # Errors
/// [`PlanError`] with the metric that cannot be counted.
pub(super) fn choose(planner: &Planner<'_>, metrics: &[Arc<str>], dispatches: u32) -> Result<Choice, PlanError> {
    let dispatches = dispatches.max(1);
    let by_ranges = |sampled: Vec<SampleGroup>| {
        let taken = |metric: &Arc<str>| sampled.iter().any(|group| group.metrics.contains(metric));
        let rest: Vec<Arc<str>> = metrics.iter().filter(|metric| !taken(metric)).cloned().collect();
        let ranges = planner.pack(&rest, dispatches);
        ranges.map(|ranges| Choice { sampled, ranges })
    };
    let groups = planner.pack_samples(metrics);
    let mut best = by_ranges(groups.clone())?;
    let mut candidates = vec![Vec::new()];
    if groups.len() > 1 {
        // Where ranges are needed anyway they may as well take a group that samples dearly; and one group alone does not
        // need to be switched.
        for left in 0..groups.len() {
            let mut kept = groups.clone();
            kept.remove(left);
            candidates.push(kept);
        }
    }
    for candidate in candidates {
        // What was only offered by sampling stays there.
        if let Ok(choice) = by_ranges(candidate)
            && choice.cost(dispatches) < best.cost(dispatches)
        {
            best = choice;
        }
    }
    Ok(best)
}

/// The [`pickiness`] of most metrics.
const EASY: u32 = 3;
/// How many orders are tried: each takes some ten milliseconds.
const MOST_ORDERS: usize = 8;

/// What was asked of CUPTI already, by the metrics in order of their names: asking takes milliseconds.
type Known = HashMap<Vec<Arc<str>>, Option<Fitted>>;

/// Metrics that fit one pass, with the marker that leaves room for them.
#[derive(Clone)]
struct Fitted {
    members: Vec<Asked>,
    marker: &'static str,
    config: ConfigImage,
}

impl Planner<'_> {
    /// One group of all these metrics.
    ///
    /// # Errors
    /// [`PlanError`] with the metrics that do not fit.
    pub(super) fn one_group(&self, metrics: &[Arc<str>]) -> Result<SampleGroup, PlanError> {
        let mut groups = self.pack_samples(metrics);
        let first = if groups.is_empty() { None } else { Some(groups.remove(0)) };
        let fits = |metric: &&Arc<str>| first.as_ref().is_some_and(|group| group.metrics.contains(metric));
        let left: Vec<&str> = metrics.iter().filter(|metric| !fits(metric)).map(|metric| &**metric).collect();
        match first {
            Some(group) if left.is_empty() => Ok(group),
            _ => Err(PlanError::Unavailable(format!(
                "--fence off counts in a single pass of sampling, which has no room for {}; leave them out, or use --fence on",
                left.join(", ")
            ))),
        }
    }

    /// How these metrics are programmed for sampling; `None` when they take more than one pass, or are not offered.
    fn fitted(&self, members: &[Asked], known: &mut Known) -> Option<Fitted> {
        let mut key: Vec<Arc<str>> = members.iter().map(|(metric, _)| Arc::clone(metric)).collect();
        key.sort();
        if let Some(known) = known.get(&key) {
            return known.clone();
        }
        let found = self.ask(members);
        known.insert(key, found.clone());
        found
    }

    fn ask(&self, members: &[Asked]) -> Option<Fitted> {
        let availability = self.sampling?;
        let own = |marker: &&str| {
            *marker == MARKERS[0]
                || members.iter().any(|(_, formula)| formula.terms().iter().any(|term| **term == **marker))
        };
        MARKERS.into_iter().filter(own).find_map(|marker| {
            let host = Host::for_sampling(self.cupti, self.chip, availability).ok()?;
            let config = host.config(&Names::new(terms(members, marker))).ok()?;
            (config.passes == 1).then(|| Fitted { members: members.to_vec(), marker, config })
        })
    }

    /// Packs what can be sampled into as few groups as a few orders of trying give.
    fn pack_samples(&self, metrics: &[Arc<str>]) -> Vec<SampleGroup> {
        let mut known = Known::new();
        let mut offered: Vec<Asked> = metrics
            .iter()
            .filter_map(|metric| Some((Arc::clone(metric), Formula::of(metric)?)))
            .filter(|asked| self.fitted(std::slice::from_ref(asked), &mut known).is_some())
            .collect();
        let mut best = self.fit(&offered, &mut known);
        // What goes with fewest others first, and what is left in several orders: which two go together matters.
        offered.sort_by_key(|(metric, _)| pickiness(metric));
        let easy = offered.iter().position(|(metric, _)| pickiness(metric) == EASY).unwrap_or(offered.len());
        for _ in 0..(offered.len() - easy).min(MOST_ORDERS) {
            if best.len() <= 1 {
                break;
            }
            let sorted = self.fit(&offered, &mut known);
            if sorted.len() < best.len() {
                best = sorted;
            }
            offered[easy..].rotate_left(1);
        }
        let group = |fitted: Fitted| SampleGroup::new(&fitted.members, fitted.marker, fitted.config);
        best.into_iter().map(group).collect()
    }

    /// Each metric goes to the first group that has room.
    fn fit(&self, metrics: &[Asked], known: &mut Known) -> Vec<Fitted> {
        let mut groups: Vec<Fitted> = Vec::new();
        'metrics: for metric in metrics {
            for group in &mut groups {
                let more: Vec<Asked> = group.members.iter().chain([metric]).cloned().collect();
                if let Some(more) = self.fitted(&more, known) {
                    *group = more;
                    continue 'metrics;
                }
            }
            groups.extend(self.fitted(std::slice::from_ref(metric), known));
        }
        groups
    }
}

/// L1 goes with no counter of instructions, warps with few; L2 and memory, which go with all, are put together, since each
/// group with them is decoded slowly.
fn pickiness(metric: &str) -> u32 {
    if metric.starts_with("l1tex__") {
        0
    } else if is_far(metric) {
        1
    } else if metric.contains("__warps_") {
        2
    } else {
        EASY
    }
}
