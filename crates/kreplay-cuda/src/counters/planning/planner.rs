//! Packing metrics into the Range Profiler's passes.
//!
//! CUPTI programs any list of metrics and says how many passes it takes. What a pass costs depends on what it holds
//! ([`super::price`]): one with counters of the multiprocessors is programmed fast, but the driver reads these counters in
//! each launch call; one with L2 or memory takes long to program, and costs a launch next to nothing. Metrics can therefore
//! be packed into *groups* by price, each programmed on its own, so that its values belong to its passes. Another group
//! needs another session, though, since a session keeps its first programming; so groups are worth it only where CUPTI
//! refuses to count the metrics together, or where a window holds very many dispatches.

use super::ahead::helpers;
use super::answers::Known;
use super::host::{ConfigImage, Host, Names};
use super::price::Price;
use super::range_group::{Group, cost};
use crate::counters::sharing::reach::Reach;
use crate::tables::{Cupti, CuptiError};
use kreplay_engine::PlanError;
use std::sync::Arc;

/// Packs metrics for a chip.
pub(crate) struct Planner<'a> {
    pub(crate) cupti: &'a Cupti,
    pub(crate) chip: &'a str,
    /// What may be counted by ranges.
    pub(crate) availability: &'a [u8],
    /// What may be sampled; `None` where nothing may.
    pub(crate) sampling: Option<&'a [u8]>,
    /// Why nothing may be sampled, where it is known.
    pub(in crate::counters) unsampled: Option<Arc<str>>,
    /// How many threads beside this one may ask.
    pub(in crate::counters) helpers: usize,
    /// What was asked already.
    pub(in crate::counters) known: Arc<Known>,
    /// Whose work ranges will count.
    pub(in crate::counters) reach: Reach,
}

impl<'a> Planner<'a> {
    /// A planner for a chip. `availability` is what may be counted by ranges, `sampling` what may be sampled: `None` where
    /// nothing may.
    pub(crate) fn new(cupti: &'a Cupti, chip: &'a str, availability: &'a [u8], sampling: Option<&'a [u8]>) -> Self {
        Self {
            cupti,
            chip,
            availability,
            sampling,
            unsampled: None,
            helpers: helpers(),
            known: Arc::default(),
            reach: Reach::Device,
        }
    }

    pub(in crate::counters) fn config(&self, metrics: &[Arc<str>]) -> Result<ConfigImage, CuptiError> {
        let ask = || Host::new(self.cupti, self.chip, self.availability)?.config(&Names::new(metrics));
        self.known.ranges.get(metrics, ask)
    }

    fn group(&self, metrics: Vec<Arc<str>>, config: ConfigImage) -> Group {
        Group::new(metrics, config, self.reach)
    }

    /// How many questions CUPTI was asked: about ranges, and about sampling.
    #[cfg(test)]
    pub(in crate::counters) fn asked(&self) -> (usize, usize) {
        (self.known.ranges.asked(), self.known.samples.asked())
    }

    /// How terms are programmed for sampling; `None` when they take more than one pass, or nothing is sampled.
    pub(in crate::counters) fn sampled_config(&self, terms: &[Arc<str>]) -> Option<ConfigImage> {
        let availability = self.sampling?;
        let ask = || Host::for_sampling(self.cupti, self.chip, availability)?.config(&Names::new(terms));
        self.known.samples.get(terms, ask).ok().filter(|config| config.passes == 1)
    }

    /// Whether terms fit one pass of sampling, as far as that follows from what was asked.
    pub(in crate::counters) fn known_to_fit(&self, terms: &[Arc<str>]) -> Option<bool> {
        self.known.samples.fits(terms)
    }

    /// The groups that cost least in a window of this many dispatches: packed by price, or all together where that is
    /// cheaper.
    ///
    /// # Errors
    /// [`PlanError`] with the metric that cannot be counted.
    pub(crate) fn pack(&self, metrics: &[Arc<str>], dispatches: u32) -> Result<Vec<Group>, PlanError> {
        if metrics.is_empty() {
            return Ok(Vec::new());
        }
        let Ok(config) = self.config(metrics) else { return self.apart(metrics) };
        let one = self.several_first(metrics, config.passes).unwrap_or_else(|| self.group(metrics.to_vec(), config));
        let one = self.backwards(metrics, one.config.passes).unwrap_or(one);
        let passes = one.config.passes;
        let together = vec![one];
        let price = cost(&together, dispatches, false);
        if self.cannot_be_cheaper(metrics, passes, price, dispatches) {
            return Ok(together);
        }
        let groups = self.apart(metrics)?;
        Ok(if price <= cost(&groups, dispatches, false) { together } else { groups })
    }

    /// One group with the metrics of several passes first, where the others then add none: CUPTI packs a list in the order
    /// of its metrics, and as they are asked for they take `passes`.
    fn several_first(&self, metrics: &[Arc<str>], passes: u32) -> Option<Group> {
        if passes == 1 {
            return None;
        }
        let (all, several) = self.with_several_first(metrics)?;
        if several >= passes {
            return None;
        }
        let config = self.config(&all).ok().filter(|config| config.passes <= several)?;
        Some(self.group(all, config))
    }

    /// One group with the metrics in the opposite of the order that was asked, where that takes fewer than `passes`. The
    /// opposite of [`Planner::several_first`] never did where it was tried.
    fn backwards(&self, metrics: &[Arc<str>], passes: u32) -> Option<Group> {
        if passes == 1 {
            return None;
        }
        let metrics = turned(metrics);
        let config = self.config(&metrics).ok().filter(|config| config.passes < passes)?;
        Some(self.group(metrics, config))
    }

    /// The metrics with those of several passes first, and how many passes these take; `None` where that is no other order,
    /// or the others are dearer.
    pub(in crate::counters) fn with_several_first(&self, metrics: &[Arc<str>]) -> Option<(Vec<Arc<str>>, u32)> {
        let takes_several = |metric: &Arc<str>| {
            let alone = || self.config(std::slice::from_ref(metric)).is_ok_and(|config| config.passes > 1);
            may_take_several(metric) && alone()
        };
        let (mut all, mut singles): (Vec<_>, Vec<_>) = metrics.iter().cloned().partition(takes_several);
        let dearest = |metrics: &[Arc<str>]| metrics.iter().map(|metric| Price::of(metric)).max();
        let several = if all.is_empty() { 1 } else { self.config(&all).ok()?.passes };
        if singles.is_empty() || (!all.is_empty() && dearest(&singles) > dearest(&all)) {
            return None;
        }
        singles.sort_by_key(|metric| std::cmp::Reverse(Price::of(metric)));
        all.append(&mut singles);
        Some((all, several))
    }

    /// Groups packed by price.
    ///
    /// # Errors
    /// [`PlanError`] with the metric that cannot be counted.
    fn apart(&self, metrics: &[Arc<str>]) -> Result<Vec<Group>, PlanError> {
        let mut singles = Vec::new();
        let mut several = Vec::new();
        for metric in metrics {
            let alone = self.config(std::slice::from_ref(metric)).map_err(|error| {
                PlanError::Unavailable(format!("the metric {metric} cannot be counted on {}: {error}", self.chip))
            })?;
            if alone.passes > 1 { several.push(metric.clone()) } else { singles.push(metric.clone()) }
        }
        let mut groups: Vec<Group> = Vec::new();
        // Metrics of several passes share their passes best with each other.
        if !several.is_empty() {
            match self.config(&several) {
                Ok(config) => groups.push(self.group(several, config)),
                Err(_) => {
                    for metric in several {
                        let config = self.config(std::slice::from_ref(&metric)).map_err(unavailable)?;
                        groups.push(self.group(vec![metric], config));
                    }
                }
            }
        }
        singles.sort_by_key(|metric| std::cmp::Reverse(Price::of(metric)));
        for metric in &singles {
            self.place(&mut groups, metric).map_err(unavailable)?;
        }
        groups.sort_by_key(|group| group.price);
        Ok(groups)
    }

    /// A group of these metrics, if they fit one pass.
    pub(crate) fn one_pass(&self, metrics: &[Arc<str>]) -> Option<Group> {
        let config = self.config(metrics).ok().filter(|config| config.passes == 1)?;
        Some(self.group(metrics.to_vec(), config))
    }

    /// Puts a metric into the first group that holds it without another pass and without becoming dearer, else into a
    /// group of its own.
    fn place(&self, groups: &mut Vec<Group>, metric: &Arc<str>) -> Result<(), CuptiError> {
        for group in groups.iter_mut().filter(|group| Price::of(metric) <= group.price) {
            let mut more = group.metrics.clone();
            more.push(metric.clone());
            // A refusal (27, metrics that do not go together) only means another group.
            if let Ok(config) = self.config(&more)
                && config.passes <= group.config.passes
            {
                *group = self.group(more, config);
                return Ok(());
            }
        }
        let config = self.config(std::slice::from_ref(metric))?;
        groups.push(self.group(vec![metric.clone()], config));
        Ok(())
    }
}

/// Whether a metric may take several passes, by its name: plain counters take one, with few exceptions.
pub(in crate::counters) fn may_take_several(metric: &str) -> bool {
    let plain = [".sum", ".avg", ".max", ".min"].iter().any(|ending| metric.ends_with(ending));
    !plain || metric.contains("throughput")
}

/// The metrics from the last to the first.
pub(in crate::counters) fn turned(metrics: &[Arc<str>]) -> Vec<Arc<str>> {
    metrics.iter().rev().cloned().collect()
}

fn unavailable(error: CuptiError) -> PlanError {
    PlanError::Unavailable(error.to_string())
}
