//! What passes of the Range Profiler cost by what they count.
//!
//! The figures are those of an H200; `bench/peers/run.py OUT prices` measures them by CUPTI alone: `start_ms` and `stop_ms`
//! of a window of one launch are a switch, `ms_per_launch` is what a kernel costs, with what `stop_ms` grows by for each
//! launch of a longer window, and `first_start_ms` is a session. They are those of sessions that count the whole device
//! ([`crate::counters::sharing::reach`]); what others take more the part `reach` measures, which begins and stops passes of both.

use crate::counters::sharing::reach::Reach;
use std::time::Duration;

/// Programming a pass and stopping it, where nothing but time is counted: that is taken from timestamps.
const SWITCH_TIME: Duration = Duration::from_micros(100);
/// … with counters of the multiprocessors.
const SWITCH_NEAR: Duration = Duration::from_micros(1_250);
/// … with patched instructions.
const SWITCH_PATCHED: Duration = Duration::from_micros(200);
/// … with L2, memory or elapsed cycles.
const SWITCH_FAR: Duration = Duration::from_micros(5_500);
/// Ending a session and beginning another: the first start of each takes long, and longer with each range.
const SESSION: Duration = Duration::from_millis(75);
const SESSION_RANGE: Duration = Duration::from_micros(1_000);

/// What a pass costs for each kernel, by the dearest that it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Price {
    /// Time.
    #[default]
    Time,
    /// L2, memory, elapsed cycles.
    Cheap,
    /// Counted by patched instructions.
    Patched,
    /// Counters of the multiprocessors: the driver reads them in each launch call.
    Dear,
}

impl Price {
    /// Of a metric, by its name.
    pub(crate) fn of(metric: &str) -> Self {
        let starts_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| metric.starts_with(prefix));
        if metric.contains("__sass_") || metric.starts_with("sass__") {
            Price::Patched
        } else if metric.starts_with("gpu__time_duration.") {
            Price::Time
        } else if metric.contains("__cycles_elapsed.") {
            Price::Cheap
        } else if starts_with(&["sm__", "smsp__", "l1tex__", "tpc__", "idc__", "gpc__", "gcc__"]) {
            Price::Dear
        } else {
            Price::Cheap
        }
    }

    /// The least that a pass costs which holds such a metric, in a window of this many dispatches.
    pub(in crate::counters) fn pass(self, dispatches: u32) -> Duration {
        self.switch(Reach::Device) + self.kernel(Reach::Device) * dispatches
    }

    /// The least that programming and stopping such a pass costs.
    pub(in crate::counters) fn switch(self, reach: Reach) -> Duration {
        let device = match self {
            Price::Time => SWITCH_TIME,
            Price::Cheap => SWITCH_FAR,
            Price::Patched => SWITCH_PATCHED,
            Price::Dear => SWITCH_NEAR,
        };
        match (self, reach) {
            (_, Reach::Device) => device,
            (Price::Cheap, Reach::Context) => device * 3,
            (_, Reach::Context) => device * 2,
        }
    }

    /// What one kernel costs in a pass, beside the switch.
    pub(in crate::counters) fn kernel(self, reach: Reach) -> Duration {
        Duration::from_micros(match (self, reach) {
            (Price::Time, _) => 6,
            (Price::Cheap, _) => 50,
            (Price::Patched, _) => 100,
            (Price::Dear, Reach::Device) => 670,
            (Price::Dear, Reach::Context) => 950,
        })
    }
}

/// Of the passes of a list so many count elapsed cycles, where nothing else in it is as dear to switch to: of the nine that
/// `sm__throughput` makes with others two take four times as long to program as the rest.
pub(in crate::counters) const ELAPSED_PASSES: u32 = 2;

/// What programming and stopping a pass costs that holds this metric. What is related to elapsed cycles counts these too,
/// whatever else it counts.
pub(in crate::counters) fn switch(metric: &str, reach: Reach) -> Duration {
    if metric.contains("_elapsed") { Price::Cheap.switch(reach) } else { Price::of(metric).switch(reach) }
}

/// What another session costs in a window of this many dispatches.
pub(in crate::counters) fn session(dispatches: u32) -> Duration {
    SESSION + SESSION_RANGE * dispatches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cheap_for_a_kernel_may_be_dear_to_switch_to() {
        for (metric, price, switched) in [
            ("gpu__time_duration.sum", Price::Time, SWITCH_TIME),
            ("dram__bytes_read.sum", Price::Cheap, SWITCH_FAR),
            ("lts__t_sectors.sum", Price::Cheap, SWITCH_FAR),
            ("gpc__cycles_elapsed.max", Price::Cheap, SWITCH_FAR),
            ("sm__cycles_elapsed.sum", Price::Cheap, SWITCH_FAR),
            ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum", Price::Patched, SWITCH_PATCHED),
            ("sm__inst_executed.sum", Price::Dear, SWITCH_NEAR),
            ("sm__cycles_active.sum", Price::Dear, SWITCH_NEAR),
            ("sm__throughput.avg.pct_of_peak_sustained_elapsed", Price::Dear, SWITCH_FAR),
            ("sm__inst_executed.avg.per_cycle_elapsed", Price::Dear, SWITCH_FAR),
        ] {
            assert_eq!((Price::of(metric), switch(metric, Reach::Device)), (price, switched), "{metric}");
            let times = if switched == SWITCH_FAR { 3 } else { 2 };
            assert_eq!(switch(metric, Reach::Context), switched * times, "{metric}");
        }
    }
}
