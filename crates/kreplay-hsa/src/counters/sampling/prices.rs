//! What a pass costs, by its way of counting.
//!
//! The software GPU's ways cost nearly nothing, and no AMD hardware can sample so. The numbers are fixed ones of the kind that
//! hardware has, so that plans of the software GPU use both ways: programming another group for sampling is dear, reading
//! ranges around each kernel is.

use kreplay_engine::Way;
use std::time::Duration;

/// Programming another group for sampling.
const SWITCH_SAMPLING: Duration = Duration::from_millis(100);
/// Starting and stopping the stream.
const SESSION: Duration = Duration::from_micros(2_100);
/// What a dispatch costs in a sampled pass: the fence.
const EACH_SAMPLING: Duration = Duration::from_micros(12);
/// Programming a pass of ranges.
const SWITCH_RANGES: Duration = Duration::from_millis(10);
/// What a dispatch costs in a pass of ranges: two readings.
const EACH_RANGES: Duration = Duration::from_micros(970);

/// What one dispatch costs in a pass, of `groups` different ones in a window of `dispatches`. One group alone stays
/// programmed.
pub(in crate::counters) fn each(way: Way, groups: u32, dispatches: u32) -> Duration {
    let dispatches = dispatches.max(1);
    match way {
        Way::Timing => Duration::ZERO,
        Way::Ranges => SWITCH_RANGES / dispatches + EACH_RANGES,
        Way::Sampling => {
            let switch = if groups > 1 { SWITCH_SAMPLING } else { Duration::ZERO };
            (switch + SESSION) / dispatches + EACH_SAMPLING
        }
    }
}

/// The cheaper way.
pub(in crate::counters) fn cheapest(groups: u32, dispatches: u32) -> Way {
    let price = |way| each(way, groups, dispatches);
    if price(Way::Sampling) < price(Way::Ranges) { Way::Sampling } else { Way::Ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_groups_are_sampled_only_where_many_dispatches_share_the_switch() {
        assert_eq!(cheapest(1, 1), Way::Sampling);
        assert_eq!(cheapest(2, 1), Way::Ranges);
        assert_eq!(cheapest(2, 50), Way::Ranges);
        assert_eq!(cheapest(2, 500), Way::Sampling);
        assert!(each(Way::Sampling, 3, 500) < Duration::from_micros(250));
    }
}
