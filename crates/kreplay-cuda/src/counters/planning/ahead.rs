//! Asking CUPTI ahead: what planning is about to ask, side by side on a few threads. Only the answers are kept, and planning
//! finds them when it comes to ask; so a plan does not depend on the threads. CUPTI keeps what it knows of a list in an object
//! that one thread uses.

use super::formula::{Formula, MARKERS};
use super::planner::{Planner, may_take_several, turned};
use super::sample_group::{Asked, terms};
use super::samples::markers;
use crate::counters::beside::side_by_side;
use std::sync::Arc;

/// The most threads beside the one that plans.
const MOST_HELPERS: usize = 7;

/// How many threads may help here. Some of what is asked ahead turns out to be needless, so with a single core none do.
pub(in crate::counters) fn helpers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores - 1).min(MOST_HELPERS)
}

enum Question {
    Ranges(Vec<Arc<str>>),
    Samples(Vec<Arc<str>>),
}

impl Planner<'_> {
    /// Asks what planning these metrics begins with.
    pub(in crate::counters) fn ask_ahead(&self, metrics: &[Arc<str>]) {
        if self.helpers == 0 {
            return;
        }
        let offered: Vec<Asked> =
            metrics.iter().filter_map(|metric| Some((Arc::clone(metric), Formula::of(metric)?))).collect();
        let marked = |asked: &[Asked]| terms(asked, markers(asked).next().unwrap_or(MARKERS[0]));
        let single = |asked: &Asked| marked(std::slice::from_ref(asked));
        // Everything together takes longest.
        let mut questions = vec![Question::Ranges(metrics.to_vec()), Question::Ranges(turned(metrics))];
        let alone = metrics.iter().filter(|metric| may_take_several(metric));
        questions.extend(alone.map(|metric| Question::Ranges(vec![Arc::clone(metric)])));
        if !offered.is_empty() {
            questions.push(Question::Ranges(without(metrics, &offered)));
            questions.push(Question::Samples(marked(&offered)));
        }
        questions.extend(offered.iter().map(|asked| Question::Samples(single(asked))));
        self.ask(questions);
        // What is left to ranges where the others are sampled, and the other order of both, where passes may be saved.
        if self.config(metrics).is_ok_and(|config| config.passes == 1) {
            return;
        }
        let sampled: Vec<Asked> =
            offered.into_iter().filter(|asked| self.sampled_config(&single(asked)).is_some()).collect();
        let rest = without(metrics, &sampled);
        let orders = [metrics, &rest].map(|metrics| self.with_several_first(metrics).map(|(order, _)| order));
        self.ask([Some(rest)].into_iter().chain(orders).flatten().map(Question::Ranges).collect());
    }

    fn ask(&self, questions: Vec<Question>) {
        side_by_side(self.helpers, questions.len(), |at| match &questions[at] {
            Question::Ranges(metrics) if metrics.is_empty() => {}
            // Refusals are answers as well.
            Question::Ranges(metrics) => drop(self.config(metrics)),
            Question::Samples(terms) => drop(self.sampled_config(terms)),
        });
    }
}

/// The metrics that are not among these.
pub(in crate::counters) fn without(metrics: &[Arc<str>], sampled: &[Asked]) -> Vec<Arc<str>> {
    metrics.iter().filter(|metric| !sampled.iter().any(|(known, _)| known == *metric)).cloned().collect()
}
