//! From a request to passes, and what they will cost. Needs no GPU: CUPTI's Profiler Host interface tells of a chip.
//!
//! ```text
//!  names, sets, list   what may be asked for, and the metrics that it means
//!  host, answers       questions to CUPTI, and what it answered; `ahead` asks side by side what is about to be asked
//!  choice              which metric is counted which way, by `price` and `bounds`
//!  planner, samples    metrics packed into passes of ranges (`range_group`) and into groups of sampling (`sample_group`, `formula`)
//!  plan                the passes, and which programming each belongs to
//! ```

mod ahead;
pub(in crate::counters) mod answers;
mod bounds;
mod choice;
pub(in crate::counters) mod formula;
pub(in crate::counters) mod host;
pub(in crate::counters) mod list;
pub(in crate::counters) mod names;
pub(in crate::counters) mod plan;
pub(in crate::counters) mod planner;
pub(in crate::counters) mod price;
pub(in crate::counters) mod range_group;
pub(in crate::counters) mod sample_group;
mod samples;
pub(in crate::counters) mod sets;

#[cfg(test)]
pub(in crate::counters) mod pinned_tests;
#[cfg(test)]
mod plan_tests;
