//! Metrics that one sampling pass counts.

use super::formula::{Formula, MARKERS};
use super::host::{ConfigImage, Names};
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

    /// Whether it counts L2 or memory, which count something while nothing runs too.
    pub(crate) fn is_far(&self) -> bool {
        self.terms.iter().any(|term| is_far(term))
    }

    /// Whether it counts the multiprocessors.
    pub(in crate::counters) fn is_near(&self) -> bool {
        self.terms.iter().any(|term| is_near(term))
    }

    /// Whether nothing but the marker needs to be read of a sample in which that stood still. While no multiprocessor was active
    /// what only they count stands still too, unless it counts time; but active they may be without an instruction.
    pub(in crate::counters) fn rests_with_marker(&self) -> bool {
        self.terms.first().is_some_and(|marker| **marker == *MARKERS[0])
            && self.terms.iter().all(|term| is_near(term) && !term.contains("elapsed"))
    }

    /// Where a term stands.
    pub(in crate::counters) fn place(&self, term: &str) -> Option<usize> {
        self.terms.iter().position(|known| &**known == term)
    }
}

/// Whether a metric counts L2 or memory.
pub(crate) fn is_far(metric: &str) -> bool {
    metric.starts_with("lts__") || metric.starts_with("dram__")
}

/// Whether a metric counts within the multiprocessors.
fn is_near(metric: &str) -> bool {
    ["sm__", "smsp__", "l1tex__"].iter().any(|unit| metric.starts_with(unit))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_sample_is_read_whole_where_something_may_count_in_it() {
        let rests = |metric: &str, marker: &str| {
            let asked = (Arc::from(metric), Formula::of(metric).expect("it is sampled"));
            let config = ConfigImage { bytes: Arc::new([]), passes: 1 };
            SampleGroup::new(&[asked], marker, config).rests_with_marker()
        };
        let [active, executed] = MARKERS;
        assert!(rests("sm__inst_executed.sum", active) && rests("l1tex__t_bytes.sum", active));
        assert!(!rests("sm__inst_executed.sum", executed), "warps may be there that execute nothing");
        assert!(!rests("lts__t_sectors.sum", active) && !rests("dram__bytes_read.sum", active));
    }
}
