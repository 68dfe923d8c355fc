//! How many dispatches the counter images of a window have room for.

use kreplay_engine::{Plan, Way};

/// Host memory for the counter images of a window, in bytes. While one window is evaluated the next one counts into
/// another.
const BUDGET: u64 = 512 << 20;

/// The same for launches that come as one, as those of a graph, and so cannot be divided among windows: 2912 of them for nine
/// passes on a GH100.
const BUDGET_TOGETHER: u64 = 4 * BUDGET;

/// What an image takes for a dispatch and a pass of ranges, in bytes: 0.7 MB for nine passes on a GH100.
const EACH: u64 = 80 << 10;

/// Most dispatches that a window of this plan should hold.
pub(in crate::counters) fn most_dispatches(plan: &Plan) -> u32 {
    most_within(BUDGET, plan)
}

/// Most dispatches that a window of this plan may hold where they come as one.
pub(in crate::counters) fn most_together(plan: &Plan) -> u32 {
    most_within(BUDGET_TOGETHER, plan)
}

fn most_within(budget: u64, plan: &Plan) -> u32 {
    let ranges = plan.passes.iter().filter(|pass| pass.way == Way::Ranges).count() as u64;
    u32::try_from(budget / (EACH * ranges.max(1))).unwrap_or(u32::MAX)
}

/// Dispatches of a window that is counted by ranges.
const RANGED: u32 = 500;

/// How many dispatches every window of this plan should be opened for. A session of ranges keeps what it was first programmed
/// for, the number of ranges too, and its first start takes a millisecond for each of them (measured on an H200: 0.9 to
/// 1.2 s for 1000), so windows that grow would pay that again and again.
pub(in crate::counters) fn steady_dispatches(plan: &Plan) -> Option<u32> {
    let ranged = plan.passes.iter().any(|pass| pass.way == Way::Ranges);
    ranged.then(|| RANGED.min(most_dispatches(plan)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kreplay_engine::PlannedPass;
    use std::time::Duration;

    #[test]
    fn more_passes_leave_room_for_fewer_dispatches() {
        let plan = |ways: &[Way]| {
            let pass = |way: &Way| PlannedPass { index: 0, counters: Vec::new(), way: *way, price: Duration::ZERO };
            Plan { passes: ways.iter().map(pass).collect() }
        };
        assert_eq!(most_dispatches(&plan(&[Way::Ranges; 9])), 728);
        assert_eq!(most_together(&plan(&[Way::Ranges; 9])), 2912);
        assert_eq!(steady_dispatches(&plan(&[Way::Ranges; 9])), Some(500));
        assert_eq!(steady_dispatches(&plan(&[Way::Ranges; 18])), Some(364));
        assert_eq!(steady_dispatches(&plan(&[Way::Timing, Way::Sampling])), None);
        assert_eq!(most_dispatches(&plan(&[Way::Ranges, Way::Timing])), 6553);
        assert!(most_dispatches(&plan(&[])) >= 6553);
    }
}
