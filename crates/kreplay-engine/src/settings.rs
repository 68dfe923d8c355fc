//! How the engine works, as the user asked.

use crate::{Chunk, Request};
use std::time::Duration;

/// How memory is put back between passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreMode {
    /// Only what pass 0 changed; the default.
    Observed,
    /// The whole footprint out, the whole footprint back: the baseline and the oracle.
    Full,
}

/// Whether a shadow is believed from window to window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShadowMode {
    /// Every window synchronises it first; the default.
    Safe,
    /// Only stale ranges are copied, with audits.
    Trusted,
}

/// How passes are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMode {
    /// Not at all; escaped writes are still undone.
    Off,
    /// The write set after each pass; escaped writes once, at the window's end. The default.
    Outputs,
    /// The whole footprint after each pass.
    All,
}

/// Which regions a window looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Every captured region; the default.
    All,
    /// Those that the argument bytes point into, audited.
    Arguments,
}

/// Which windows are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowMode {
    /// One dispatch a window.
    Kernel,
    /// Many.
    Batch,
    /// Batch where the backend records, else kernel.
    Auto,
}

/// How long a batch window may get. Within these limits the engine chooses how many dispatches it holds, so that switching
/// the counters takes about a tenth of the passes' time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Most dispatches that are counted; [`crate::Counters::most_dispatches`] may lower it.
    pub dispatches: u32,
    /// Most entries in all: dispatches that are not selected and memory operations are recorded too.
    pub entries: u32,
    /// Most bytes that recorded work holds, as far as the agent tells ([`crate::Agent::work_bytes`]). A memory operation that
    /// would hold more than is left closes the window before its source is saved.
    pub bytes: u64,
    /// Longest time that a window records.
    pub time: Duration,
}

impl BatchLimits {
    /// How many dispatches a window is expected to hold, for planners: programs often close one early.
    pub fn expected(&self) -> u32 {
        self.dispatches.clamp(1, 1000)
    }
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { dispatches: 4000, entries: 20_000, bytes: 256 << 20, time: Duration::from_secs(2) }
    }
}

/// How the engine works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is counted. Empty: nothing, the passes run uncounted (`passes` then says how many).
    pub request: Request,
    /// Passes when nothing is counted.
    pub uncounted_passes: u32,
    /// How memory is put back.
    pub restore: RestoreMode,
    /// Whether shadows are believed.
    pub shadow: ShadowMode,
    /// How passes are checked.
    pub verify: VerifyMode,
    /// Which regions are looked at.
    pub reach: Reach,
    /// Which windows are used.
    pub window: WindowMode,
    /// How long a batch window may get. Within these limits the engine chooses how many dispatches it holds, so that switching
    /// the counters takes about a tenth of the passes' time.
    pub batch: BatchLimits,
    /// Chunk size.
    pub chunk: Chunk,
    /// How long a drain may take before the dispatch declines.
    pub drain_deadline: Duration,
    /// How long a pass may take before the window is given up.
    pub pass_deadline: Duration,
    /// Device memory that stays free for the program, in bytes.
    pub device_reserve: u64,
    /// Most host staging of the whole process, in bytes.
    pub host_budget: u64,
    /// Whether write sets are kept in the records, range by range.
    pub record_write_sets: bool,
    /// Test switch: leaves every restore out, so that a test can show that it would notice.
    pub skip_restore_for_tests: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            request: Request::default(),
            uncounted_passes: 2,
            restore: RestoreMode::Observed,
            shadow: ShadowMode::Safe,
            verify: VerifyMode::Outputs,
            reach: Reach::All,
            window: WindowMode::Kernel,
            batch: BatchLimits::default(),
            chunk: Chunk::DEFAULT,
            drain_deadline: Duration::from_secs(10),
            pass_deadline: Duration::from_secs(60),
            device_reserve: 256 << 20,
            host_budget: 8 << 30,
            record_write_sets: false,
            skip_restore_for_tests: false,
        }
    }
}
