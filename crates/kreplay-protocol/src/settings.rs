//! What the command tells a process to do.
//!
//! The names of variants stand in the file too, where the settings are kept as JSON.

use serde::{Deserialize, Serialize};

/// Which backend profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Device {
    /// The software GPU under the HSA runtime.
    Soft,
    /// AMD GPUs through HSA.
    Hsa,
    /// NVIDIA GPUs through CUDA.
    Cuda,
}

/// Which dispatches are selected. Evaluated once for each dispatch, never per pass.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Filters {
    /// Only kernels whose name matches this regular expression somewhere.
    pub kernel: Option<String>,
    /// No kernels whose name matches this one.
    pub exclude: Option<String>,
    /// Of the dispatches that match, leave out this many first.
    pub skip: u64,
    /// Of those, take this many; all when `None`.
    pub count: Option<u64>,
}

/// What a restore puts back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restore {
    /// Only what was seen to change.
    Observed,
    /// The whole footprint.
    Full,
}

/// How passes are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Not; memory is kept right all the same.
    Off,
    /// Outputs after each pass, escaped writes at the end.
    Outputs,
    /// The whole footprint after each pass.
    All,
}

/// Whether the shadow is believed between windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shadow {
    /// Never.
    Safe,
    /// For regions that only this program's calls can write, with audits.
    Trusted,
}

/// Which regions a window looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Every captured region.
    All,
    /// Those that the launch's arguments point into, with audits.
    Args,
}

/// Which kind of window to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowChoice {
    /// One dispatch a window.
    Kernel,
    /// Many dispatches a window.
    Batch,
    /// Whatever costs least.
    Auto,
}

/// Which ways of counting the planner may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ways {
    /// Whatever costs least.
    Auto,
    /// Ranges only.
    Ranges,
    /// Fenced sampling only.
    Sampling,
}

/// What is done to the caches before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Nothing.
    None,
    /// They are flushed.
    Flush,
}

/// Times after which something is given up, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// Waiting for the agent to be idle.
    pub drain_ms: u64,
    /// One pass.
    pub pass_ms: u64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { drain_ms: 10_000, pass_ms: 60_000 }
    }
}

/// Bounds on what kreplay takes from the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Free device memory that stays with the program, in bytes; the engine's own choice when `None`.
    pub device_reserve_bytes: Option<u64>,
    /// Host memory for snapshots, all agents together, in bytes; the engine's own choice when `None`.
    pub host_budget_bytes: Option<u64>,
    /// Size of a chunk, a power of two, in bytes; the engine's own choice when `None`.
    pub chunk_bytes: Option<u64>,
    /// Most kernels of a batch window; the engine's own choice when `None`.
    pub window_kernels: Option<u32>,
    /// Most bytes that a batch window keeps for its recorded operations; the engine's own choice when `None`.
    pub window_bytes: Option<u64>,
}

/// What the library writes to stderr itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What the user should know: warnings, and why kernels decline, each once.
    Warn,
    /// Also one line a dispatch.
    Info,
}

/// Everything a process needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Which backend profiles; the others stay out of the way.
    pub device: Device,
    /// Names of counters, metrics and sets to count. Without any, only times are taken.
    pub counters: Vec<String>,
    /// Which dispatches.
    pub filters: Filters,
    /// What a restore puts back.
    pub restore: Restore,
    /// How passes are checked.
    pub verify: Verify,
    /// Whether the shadow is believed.
    pub shadow: Shadow,
    /// Which regions a window looks at.
    pub reach: Reach,
    /// How often each group of counters is run, at least 1; without counters, how many passes are run.
    pub repeat: u32,
    /// Which kind of window.
    pub window: WindowChoice,
    /// Which ways of counting.
    pub ways: Ways,
    /// Whether sampling is fenced, so that it is exact; otherwise it is approximate.
    pub fence: bool,
    /// What is done to the caches before a pass.
    pub cache: Cache,
    /// When to give up.
    pub deadlines: Deadlines,
    /// What may be taken from the program.
    pub limits: Limits,
    /// Whether dispatch records carry the write set's ranges.
    pub record_ranges: bool,
    /// What the library writes to stderr.
    pub log: LogLevel,
}

impl Default for Settings {
    /// The safe defaults, and no counters.
    fn default() -> Self {
        Self {
            device: Device::Soft,
            counters: Vec::new(),
            filters: Filters::default(),
            restore: Restore::Observed,
            verify: Verify::Outputs,
            shadow: Shadow::Safe,
            reach: Reach::All,
            repeat: 1,
            window: WindowChoice::Auto,
            ways: Ways::Auto,
            fence: true,
            cache: Cache::None,
            deadlines: Deadlines::default(),
            limits: Limits::default(),
            record_ranges: false,
            log: LogLevel::Off,
        }
    }
}
