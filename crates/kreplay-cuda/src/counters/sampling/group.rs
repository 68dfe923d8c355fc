//! Metrics that one sampling pass counts.

use super::formula::Formula;
use crate::counters::host::{ConfigImage, Names};
use std::sync::Arc;

/// A metric, and how it follows from its terms.
pub(crate) type Asked = (Arc<str>, Formula);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct SampleGroup {
    /// What was asked for.
    pub(crate) metrics: Vec<Arc<str>>,
    /// How each follows from the terms.
    pub(crate) formulas: Vec<Formula>,
    /// What is programmed and read for each sample: the marker, then every term once.
    pub(crate) terms: Vec<Arc<str>>,
    /// The same for CUPTI.
    pub(crate) names: Names,
    /// How the hardware is programmed for the terms.
    pub(crate) config: ConfigImage,
}

impl SampleGroup {
    /// Metrics with their formulas, and the image that their [`terms`] with this marker were programmed into.
    pub(crate) fn new(asked: &[Asked], marker: &str, config: ConfigImage) -> Self {
        let terms = terms(asked, marker);
        Self {
            metrics: asked.iter().map(|(metric, _)| Arc::clone(metric)).collect(),
            formulas: asked.iter().map(|(_, formula)| formula.clone()).collect(),
            names: Names::new(&terms),
            terms,
            config,
        }
    }

    /// Whether it counts L2 or memory, which many units do: its samples are dear to decode.
    pub(crate) fn is_far(&self) -> bool {
        self.terms.iter().any(|term| is_far(term))
    }

    /// Whether nothing but the marker needs to be read of a sample in which that stood still: what only multiprocessors count
    /// stands still too then, unless it counts time.
    pub(super) fn rests_with_marker(&self) -> bool {
        self.terms.iter().all(|term| !is_far(term) && !term.contains("elapsed"))
    }

    /// Where a term stands.
    pub(super) fn place(&self, term: &str) -> Option<usize> {
        self.terms.iter().position(|known| &**known == term)
    }
}

/// Whether a metric counts L2 or memory.
pub(crate) fn is_far(metric: &str) -> bool {
    metric.starts_with("lts__") || metric.starts_with("dram__")
}

/// What must be programmed for these metrics: the marker first, each term once.
pub(crate) fn terms(asked: &[Asked], marker: &str) -> Vec<Arc<str>> {
    let mut terms: Vec<Arc<str>> = vec![marker.into()];
    for term in asked.iter().flat_map(|(_, formula)| formula.terms()) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}
