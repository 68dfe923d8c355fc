//! Metrics that the Range Profiler is programmed with together, and what counting them costs a window.

use super::host::{ConfigImage, Names};
use super::price::{ELAPSED_PASSES, Price, session, switch};
use crate::counters::sharing::reach::Reach;
use std::sync::Arc;
use std::time::Duration;

/// Metrics that are programmed together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) metrics: Vec<Arc<str>>,
    pub(crate) names: Names,
    pub(crate) config: ConfigImage,
    pub(crate) price: Price,
    /// Whose work its passes will count.
    pub(in crate::counters) reach: Reach,
}

impl Group {
    pub(in crate::counters) fn new(metrics: Vec<Arc<str>>, config: ConfigImage, reach: Reach) -> Self {
        let price = metrics.iter().map(|metric| Price::of(metric)).max().unwrap_or_default();
        Self { names: Names::new(&metrics), metrics, config, price, reach }
    }

    /// What programming and stopping its passes costs a window, beside its kernels.
    fn switches(&self) -> Duration {
        let dearest =
            |of: &dyn Fn(&str) -> Duration| self.metrics.iter().map(|metric| of(metric)).max().unwrap_or_default();
        let plain = dearest(&|metric| Price::of(metric).switch(self.reach));
        let related = dearest(&|metric| switch(metric, self.reach));
        let elapsed = if related > plain { self.config.passes.min(ELAPSED_PASSES) } else { 0 };
        related * elapsed + plain * (self.config.passes - elapsed)
    }

    /// Its passes for a window of this many dispatches.
    pub(crate) fn cost(&self, dispatches: u32) -> Duration {
        self.switches() + self.price.kernel(self.reach) * dispatches * self.config.passes
    }

    /// One pass for one dispatch of such a window.
    pub(crate) fn each(&self, dispatches: u32) -> Duration {
        self.switches() / self.config.passes.max(1) / dispatches.max(1) + self.price.kernel(self.reach)
    }
}

/// What groups cost a window of this many dispatches. A session stays from window to window only where it is the only user of
/// the hardware: no other group, and no sampling (`mixed`) takes its place.
pub(crate) fn cost(groups: &[Group], dispatches: u32, mixed: bool) -> Duration {
    let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
    let sessions = if mixed || count > 1 { count } else { 0 };
    let passes = groups.iter().map(|group| group.cost(dispatches)).sum::<Duration>();
    passes + session(dispatches) * sessions
}
