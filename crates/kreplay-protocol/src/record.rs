//! Records of finished windows and dispatches, and their values.

use serde::{Deserialize, Serialize};

/// What became of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Run once per pass, with memory put back between passes.
    Replayed,
    /// Run once and counted; no snapshot was needed.
    Counted,
    /// Run once and not counted as asked, for a reason.
    Declined,
    /// The filters left it alone.
    NotSelected,
}

/// A device address range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Bytes by tier of backing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TierBytes {
    /// In the agent's own memory.
    pub device: u64,
    /// In pinned host memory.
    pub host: u64,
}

impl TierBytes {
    /// All tiers together.
    pub fn total(&self) -> u64 {
        self.device.saturating_add(self.host)
    }
}

/// Bytes that were moved and held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    /// Regions that the replay had to be able to put back.
    pub footprint: u64,
    /// What pass 0 changed, in whole chunks.
    pub write_set: u64,
    /// Copied from memory to backing.
    pub captured: TierBytes,
    /// Copied from backing to memory, repairs included.
    pub restored: TierBytes,
    /// Read to compare, synchronise or hash.
    pub compared: u64,
    /// The most host staging that the agent has held so far.
    pub staging_high_water: u64,
    /// Device backing held at the end.
    pub device_held: u64,
}

/// Time spent in each phase, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Waiting for the agent's queues to be idle.
    pub drain: u64,
    /// Synchronising the shadow with memory.
    pub capture: u64,
    /// Passes, the counters' programming and reading included.
    pub passes: u64,
    /// Finding the write set.
    pub compare: u64,
    /// Putting the snapshot back, repairs included.
    pub restore: u64,
    /// Checking outputs.
    pub verify: u64,
    /// Committing the shadow and releasing the agent.
    pub commit: u64,
}

impl Phases {
    /// All phases together, in nanoseconds.
    pub fn total(&self) -> u64 {
        [self.drain, self.capture, self.passes, self.compare, self.restore, self.verify, self.commit]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The phases in order, with their names as every output spells them.
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("drain", self.drain),
            ("capture", self.capture),
            ("passes", self.passes),
            ("compare", self.compare),
            ("restore", self.restore),
            ("verify", self.verify),
            ("commit", self.commit),
        ]
    }
}

/// How a pass differed from pass 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DivergenceKind {
    /// It left other content in the write set.
    Output,
    /// It wrote outside the write set; the write was undone.
    Escaped,
}

/// The first difference found between a pass and pass 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// What differed.
    pub kind: DivergenceKind,
    /// The pass; `None` where it is only known that one of the passes did it.
    pub pass: Option<u32>,
    /// The first differing range, in whole chunks.
    pub range: Range,
    /// Bytes in all chunks that differ.
    pub bytes: u64,
}

/// What was audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuditKind {
    /// Whether a trusted shadow was still in step with memory.
    Shadow,
    /// Whether the launch's arguments reach all that the kernel wrote.
    Reach,
}

/// A full look that a faster mode makes from time to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// What was audited.
    pub kind: AuditKind,
    /// Bytes in chunks that the faster mode would have missed. Not zero ends the faster mode.
    pub surprise_bytes: u64,
}

/// One dispatch, finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Its number in this process; one number however many passes ran.
    pub number: u64,
    /// The agent.
    pub agent: u64,
    /// The kernel.
    pub kernel: u32,
    /// Blocks (work-groups) in each dimension; a last partial one counts.
    pub grid: [u32; 3],
    /// Threads (work-items) of a block in each dimension.
    pub block: [u32; 3],
    /// The stream or queue it was launched on, as a number that is stable in this process.
    pub stream: u64,
    /// The launching thread of the program.
    pub thread: u64,
    /// Bytes of kernel arguments, where known.
    pub argument_bytes: Option<u32>,
    /// When it was launched, nanoseconds since the session's start.
    pub start_ns: u64,
    /// When it was finished, nanoseconds since the session's start.
    pub end_ns: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Stable name of the decline reason, when it declined.
    pub reason: Option<String>,
    /// What the agent said about it; empty when it said nothing.
    pub detail: String,
    /// The plan that it was run under.
    pub plan: Option<u32>,
    /// Passes asked for.
    pub passes_asked: u32,
    /// Passes completed, the program's own included.
    pub passes_done: u32,
    /// The window that it ran in.
    pub window: Option<u64>,
    /// The write set's ranges, when they were asked for; at most [`crate::MAX_RANGES`].
    pub write_set: Vec<Range>,
    /// Whether ranges are missing from `write_set`.
    pub write_set_cut: bool,
    /// What was moved and held; all zero for a dispatch of a batch window, where the [`Window`] tells it.
    pub bytes: Bytes,
    /// Where the time went; all zero for a dispatch of a batch window, where the [`Window`] tells it.
    pub phases: Phases,
    /// The first difference between passes, when one was found.
    pub divergence: Option<Divergence>,
    /// The audit made in its window, when there was one.
    pub audit: Option<Audit>,
    /// What the reader of its numbers must know, one sentence each.
    pub notes: Vec<String>,
}

/// Kinds of window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WindowKind {
    /// One dispatch; the last pass is the program's own.
    Kernel,
    /// Many dispatches; pass 0 is the program's own.
    Batch,
}

/// One window, closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its number in this process.
    pub number: u64,
    /// The agent.
    pub agent: u64,
    /// Its kind.
    pub kind: WindowKind,
    /// Dispatches in it.
    pub dispatches: u32,
    /// Memory operations that it recorded.
    pub operations: u32,
    /// Stable name of what closed it; `done` for a kernel window that ended in order.
    pub closed_by: String,
    /// What was moved and held.
    pub bytes: Bytes,
    /// Where the time went.
    pub phases: Phases,
    /// The clock of the compute units as it ended, in MHz, where it is told.
    pub clock_mhz: Option<u32>,
}

/// What the reader of some dispatches' numbers must know, and became known after they were told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The dispatches.
    pub dispatches: Vec<u64>,
    /// One sentence.
    pub text: String,
}

/// The values of one dispatch in one pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// The dispatch.
    pub dispatch: u64,
    /// The pass; `None` for values that were evaluated from several passes.
    pub pass: Option<u32>,
    /// The values.
    pub values: Vec<Reading>,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The counter.
    pub counter: u32,
    /// 0, unless a backend reports a counter once for each of several equal units of the hardware.
    pub instance: u32,
    /// The value.
    pub value: Value,
    /// Whether it was computed from other counters.
    pub derived: bool,
    /// `None`: exact as the hardware counts. Else it is approximate, and this bounds its error relative to the value.
    pub bound: Option<f64>,
}

/// A value, exact where it was counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A rate, a ratio or an evaluated metric.
    Real(f64),
}

impl Value {
    /// The value as a floating-point number; counts above 2⁵³ are rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Real(real) => real,
        }
    }
}
