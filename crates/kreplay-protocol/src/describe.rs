//! What records name by number: agents, counters, plans, kernels.

use serde::{Deserialize, Serialize};

/// One GPU, or the software GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its number in this process.
    pub number: u64,
    /// Product or chip, as the vendor's runtime names it.
    pub name: String,
    /// Instruction set or chip that counters go by, such as `gfx90a`.
    pub chip: String,
    /// The backend that drives it: `hsa` or `cuda`.
    pub backend: String,
    /// Whether its counters are simulated.
    pub simulated: bool,
    /// Bytes of device memory, where known.
    pub memory_bytes: Option<u64>,
}

/// One counter or metric. Whether its values are simulated is its agent's to say, whether one was computed from others
/// the [`crate::Reading`]'s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// Its number in this process.
    pub number: u32,
    /// Its name, as the user asks for it.
    pub name: String,
    /// What one unit of the value is: `cycle`, `instruction`, `byte`, `ns`, …; empty for a plain number.
    pub unit: String,
    /// The hardware block it is counted in; empty when it is none's.
    pub block: String,
}

/// How a request was packed into passes on one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its number in this process.
    pub number: u32,
    /// The agent.
    pub agent: u64,
    /// The passes, pass 0 first.
    pub passes: Vec<PlanPass>,
}

/// One pass of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanPass {
    /// Numbers of the counters that it counts.
    pub counters: Vec<u32>,
    /// How they are counted.
    pub way: Way,
    /// What the planner expects the pass to cost for one dispatch, in nanoseconds, switching included.
    pub price_ns: u64,
}

/// A way of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// The hardware is read around each kernel.
    Ranges,
    /// The hardware streams samples; idle gaps between kernels make the sums exact.
    Sampling,
    /// Nothing is programmed; only times are taken.
    Timing,
}

/// A kernel, named once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its number in this process.
    pub number: u32,
    /// Its name, demangled where that is known.
    pub name: String,
}
