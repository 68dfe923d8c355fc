//! Which ways to pack ranges cannot be the cheapest, without packing them.

use super::planner::Planner;
use super::price::{Price, session};
use std::sync::Arc;
use std::time::Duration;

impl Planner<'_> {
    /// Whether several groups of these metrics, which take `passes` together and then cost `price`, cannot be cheaper. Each
    /// group needs a session, and apart they take hardly fewer passes, if more of them may be cheap ones.
    pub(in crate::counters) fn cannot_be_cheaper(
        &self,
        metrics: &[Arc<str>],
        passes: u32,
        price: Duration,
        dispatches: u32,
    ) -> bool {
        let sessions = session(dispatches) * 2;
        let exceeds = |kind: Price, passes: u32| sessions + kind.pass(dispatches) * passes >= price;
        let kinds = || metrics.iter().map(|metric| Price::of(metric));
        let Some(dearest) = kinds().max() else { return true };
        if metrics.len() == 1 || kinds().any(|kind| exceeds(kind, 1)) {
            return true;
        }
        if kinds().all(|kind| kind == dearest) {
            return exceeds(dearest, apart(passes));
        }
        // Few metrics take many passes alone, and these are asked quickly.
        let many = metrics.iter().filter(|metric| metric.contains("throughput"));
        let alone = |metric: &Arc<str>| self.config(std::slice::from_ref(metric)).map_or(1, |config| config.passes);
        if many.into_iter().any(|metric| exceeds(Price::of(metric), alone(metric))) {
            return true;
        }
        let dear: Vec<_> = metrics.iter().filter(|metric| Price::of(metric) == dearest).cloned().collect();
        self.config(&dear).is_ok_and(|config| exceeds(dearest, apart(config.passes)))
    }
}

/// The least passes that metrics take in several groups, given how many they take together: how well CUPTI packs a list
/// varies by a pass in ten or so, with the order of its metrics for instance.
fn apart(together: u32) -> u32 {
    together - together / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apart_metrics_take_hardly_fewer_passes() {
        assert_eq!([1, 3, 4, 6, 10, 20].map(apart), [1, 3, 3, 5, 8, 15]);
    }
}
