//! What records name by number: agents, counters, plans, kernels.

use serde::{Deserialize, Serialize};

/// One GPU, or the software GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its number in this process.
    pub number: u32,
    /// Marketing or target name, such as `gfx90a`.
    pub name: String,
    /// Vendor's name.
    pub vendor: String,
    /// The backend that drives it: `hsa` or `cuda`.
    pub backend: String,
    /// Whether its counters are simulated.
    pub simulated: bool,
    /// Bytes of device memory.
    pub memory_bytes: u64,
}

/// One counter or derived metric.
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
    /// One sentence.
    pub description: String,
    /// Whether the value comes from a model and not from hardware.
    pub simulated: bool,
    /// The expression it was evaluated from, when it is a derived metric.
    pub derived: Option<String>,
}

/// How a request was packed into passes on one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its number in this process.
    pub number: u32,
    /// The agent.
    pub agent: u32,
    /// The passes, pass 0 first.
    pub passes: Vec<PlanPass>,
}

/// One pass of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanPass {
    /// Which group of counters this is. Passes that repeat a group have the same number.
    pub group: u32,
    /// Numbers of the counters that it counts.
    pub counters: Vec<u32>,
    /// How they are counted.
    pub way: Way,
    /// What the planner thinks the pass costs beside the kernel, in microseconds; `None` when it has no price.
    pub price_us: Option<f64>,
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
    /// Name for people: demangled where possible.
    pub name: String,
    /// The symbol in the code object or module.
    pub symbol: String,
}
