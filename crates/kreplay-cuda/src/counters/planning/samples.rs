//! Packing what can be sampled into as few groups as a few orders of trying give.

use super::ahead::without;
use super::formula::{FAR_MARKER, Formula, MARKERS};
use super::planner::Planner;
use super::sample_group::SampleGroup;
use super::sample_group::{Asked, is_far, terms};
use crate::counters::beside::side_by_side;
use kreplay_engine::PlanError;
use std::collections::HashMap;
use std::sync::Arc;

/// The [`pickiness`] of most metrics.
const EASY: u32 = 3;
/// How many orders are tried: each asks CUPTI some ten times.
const MOST_ORDERS: usize = 8;

/// Metrics that fit one pass, with the marker that leaves room for them.
#[derive(Clone)]
struct Fitted {
    members: Vec<Asked>,
    marker: &'static str,
}

/// Packs a request.
struct Packing<'a> {
    planner: &'a Planner<'a>,
    /// Whether what follows from other answers is taken as answered.
    infers: bool,
    /// What is known of sets of metrics, by their names in order.
    known: HashMap<Vec<Arc<str>>, Option<Fitted>>,
}

impl Planner<'_> {
    /// One group of all these metrics.
    ///
    /// # Errors
    /// [`PlanError`] with the metrics that do not fit, or why nothing is sampled.
    pub(in crate::counters) fn one_group(&self, metrics: &[Arc<str>]) -> Result<SampleGroup, PlanError> {
        if self.sampling.is_none() {
            let why = self.unsampled.as_deref().unwrap_or("it is not offered here");
            return Err(PlanError::Unavailable(format!("--fence off counts by sampling: {why}; use --fence on")));
        }
        let mut groups = self.pack_samples(metrics, &|_| true);
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

    /// Packs what can be sampled. Where one group does not hold everything, nothing is packed unless that is `worth` it,
    /// given the metrics that are not offered as far as they are known.
    pub(in crate::counters) fn pack_samples(
        &self,
        metrics: &[Arc<str>],
        worth: &dyn Fn(&[Arc<str>]) -> bool,
    ) -> Vec<SampleGroup> {
        let packed = [true, false].into_iter().find_map(|infers| {
            let mut packing = Packing::new(self, infers);
            let fitted = packing.pack(metrics, worth);
            // CUPTI packs by rules of thumb: should it refuse what followed from other answers, everything is asked.
            fitted.iter().map(|fitted| packing.programmed(fitted)).collect::<Option<Vec<_>>>()
        });
        packed.unwrap_or_default()
    }
}

impl<'a> Packing<'a> {
    fn new(planner: &'a Planner<'a>, infers: bool) -> Self {
        Self { planner, infers, known: HashMap::new() }
    }

    fn pack(&mut self, metrics: &[Arc<str>], worth: &dyn Fn(&[Arc<str>]) -> bool) -> Vec<Fitted> {
        if self.planner.sampling.is_none() {
            return Vec::new();
        }
        let mut offered: Vec<Asked> =
            metrics.iter().filter_map(|metric| Some((Arc::clone(metric), Formula::of(metric)?))).collect();
        if offered.is_empty() {
            return Vec::new();
        }
        if let Some(all) = self.fitted(&offered) {
            return if all.members.len() == metrics.len() || worth(&without(metrics, &offered)) {
                vec![all]
            } else {
                Vec::new()
            };
        }
        if !worth(&without(metrics, &offered)) {
            return Vec::new();
        }
        offered.retain(|asked| self.fitted(std::slice::from_ref(asked)).is_some());
        if !worth(&without(metrics, &offered)) {
            return Vec::new();
        }
        self.orders(offered)
    }

    /// The fewest groups that a few orders of trying give.
    fn orders(&mut self, offered: Vec<Asked>) -> Vec<Fitted> {
        let orders = orders(offered);
        if self.planner.helpers > 0 {
            // Each order tells the planner's answers what it needs, and is then followed from them.
            let (planner, infers) = (self.planner, self.infers);
            side_by_side(planner.helpers, orders.len(), |at| drop(Packing::new(planner, infers).fit(&orders[at])));
        }
        let mut best = self.fit(&orders[0]);
        for order in &orders[1..] {
            // What fits one group never takes two.
            if best.len() <= 2 {
                break;
            }
            let sorted = self.fit(order);
            if sorted.len() < best.len() {
                best = sorted;
            }
        }
        best
    }

    /// Each metric goes to the first group that has room.
    fn fit(&mut self, metrics: &[Asked]) -> Vec<Fitted> {
        let mut groups: Vec<Fitted> = Vec::new();
        'metrics: for metric in metrics {
            for group in &mut groups {
                let more: Vec<Asked> = group.members.iter().chain([metric]).cloned().collect();
                if let Some(more) = self.fitted(&more) {
                    *group = more;
                    continue 'metrics;
                }
            }
            groups.extend(self.fitted(std::slice::from_ref(metric)));
        }
        groups
    }

    /// These metrics in one pass; `None` when they take more than one, or are not offered.
    fn fitted(&mut self, members: &[Asked]) -> Option<Fitted> {
        let mut key: Vec<Arc<str>> = members.iter().map(|(metric, _)| Arc::clone(metric)).collect();
        key.sort();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = markers(members)
            .find(|marker| self.fits(&terms(members, marker)))
            .map(|marker| Fitted { members: members.to_vec(), marker });
        self.known.insert(key, found.clone());
        found
    }

    fn fits(&self, terms: &[Arc<str>]) -> bool {
        let follows = self.infers.then(|| self.planner.known_to_fit(terms)).flatten();
        follows.unwrap_or_else(|| self.planner.sampled_config(terms).is_some())
    }

    fn programmed(&self, fitted: &Fitted) -> Option<SampleGroup> {
        let config = self.planner.sampled_config(&terms(&fitted.members, fitted.marker))?;
        Some(SampleGroup::new(&fitted.members, fitted.marker, config))
    }
}

/// The markers that can tell when these metrics are active, the best one first: each costs room, but for one that is among what is
/// counted.
pub(in crate::counters) fn markers(members: &[Asked]) -> impl Iterator<Item = &'static str> {
    let mut terms = members.iter().flat_map(|(_, formula)| formula.terms());
    let far = terms.all(|term| is_far(&term)).then_some(FAR_MARKER);
    far.into_iter().chain(MARKERS.into_iter().filter(|marker| {
        *marker == MARKERS[0]
            || members.iter().any(|(_, formula)| formula.terms().iter().any(|term| **term == **marker))
    }))
}

/// As they were asked for; then what goes with fewest others first, and what is left in several orders: which two go together
/// matters.
fn orders(mut offered: Vec<Asked>) -> Vec<Vec<Asked>> {
    let mut orders = vec![offered.clone()];
    offered.sort_by_key(|(metric, _)| pickiness(metric));
    let easy = offered.iter().position(|(metric, _)| pickiness(metric) == EASY).unwrap_or(offered.len());
    for _ in 0..(offered.len() - easy).min(MOST_ORDERS) {
        orders.push(offered.clone());
        offered[easy..].rotate_left(1);
    }
    orders
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
