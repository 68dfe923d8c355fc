//! What the engine tells about finished dispatches and windows.

use crate::{
    AgentDescription, AgentId, Decline, DispatchId, Geometry, KernelInfo, MemoryState, Plan, Range, Reading, WindowId,
};
use std::sync::Arc;
use std::time::Duration;

/// What became of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ran in several passes.
    Replayed,
    /// Ran once, counted.
    Counted,
    /// Ran once, for this reason; `detail` is what the agent said, or empty.
    Declined {
        /// Why.
        reason: Decline,
        /// The message behind it.
        detail: String,
    },
}

/// One dispatch or many behind one reprogramming of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// One dispatch.
    Kernel,
    /// Many dispatches.
    Batch,
}

/// Why a window closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClosingReason {
    /// A kernel window: its dispatch is done.
    Done,
    /// It holds as many dispatches as it may.
    Full,
    /// It holds as many recorded bytes as it may.
    Bytes,
    /// It was open as long as it may be.
    Time,
    /// Many launches followed that are not selected and that its counters would count all the same.
    Sparse,
    /// A dispatch came that the policy runs another number of times.
    Policy,
    /// Launches came that only replays can count one by one: a graph, several in one submission.
    Together,
    /// Memory is freed, unmapped or unregistered that what is recorded may need, and that cannot wait.
    Freed,
    /// Code is unloaded.
    Unloaded,
    /// The program begins to capture a stream.
    Capture,
    /// A launch came that cannot be recorded: it declines, or needs a window of its own.
    Launch,
    /// An operation came that reaches memory which cannot be put back: of another device or process, or nobody told of it.
    Foreign,
    /// An operation came of a kind that is not recorded.
    Unrecordable,
    /// Another agent of the device begins to use it, whose counters the window keeps.
    Agent,
    /// The program needs memory that the window holds, or memory for which the driver may move what the program freed.
    Memory,
    /// The program ends.
    Exit,
    /// A pass failed, a deadline expired, or the agent was lost.
    Failed,
}

/// Where a window's time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Waiting for the agent's queues, the lock included.
    pub drain: Duration,
    /// Taking the snapshot.
    pub capture: Duration,
    /// Running the passes, counters included.
    pub passes: Duration,
    /// Finding the write set.
    pub compare: Duration,
    /// Putting memory back between passes.
    pub restore: Duration,
    /// Checking outputs, finding and undoing escaped writes.
    pub verify: Duration,
    /// Bringing the shadow up to date at the end.
    pub commit: Duration,
}

/// Bytes a window moved and held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Regions that a replay must be able to put back.
    pub footprint: u64,
    /// What pass 0 changed, in whole chunks.
    pub write_set: u64,
    /// Copied to take snapshots, device tier.
    pub captured_device: u64,
    /// Copied to take snapshots, host tier.
    pub captured_host: u64,
    /// Copied back, device tier.
    pub restored_device: u64,
    /// Copied back, host tier.
    pub restored_host: u64,
    /// Read to compare, synchronise or hash.
    pub compared: u64,
    /// Most host staging that the agent has held so far.
    pub host_high_water: u64,
    /// Device backing held now.
    pub device_held: u64,
}

/// A pass that did other work than pass 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The pass, as far as the check can tell.
    pub pass: Option<u32>,
    /// The first range that differs.
    pub range: Range,
    /// Whether it lies outside the write set (an escaped write).
    pub escaped: bool,
    /// Bytes in chunks that differ.
    pub bytes: u64,
}

/// What a full look was compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditKind {
    /// Whether a trusted shadow was still in step with memory.
    Shadow,
    /// Whether the launch's arguments reach all that the kernel wrote.
    Reach,
}

/// A full look that a faster mode makes from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// What was audited.
    pub kind: AuditKind,
    /// Bytes in chunks that the faster mode would have missed. Not zero ends the faster mode.
    pub surprise_bytes: u64,
}

/// A finished dispatch.
#[derive(Clone, Debug)]
pub struct DispatchRecord {
    /// Its number.
    pub id: DispatchId,
    /// The agent.
    pub agent: AgentId,
    /// The kernel.
    pub kernel: KernelInfo,
    /// How large.
    pub geometry: Geometry,
    /// The stream or queue.
    pub stream: u64,
    /// Size of the arguments in bytes, where known.
    pub argument_bytes: Option<u32>,
    /// The launching thread.
    pub thread: u64,
    /// Its window; `None` when it declined before one was opened.
    pub window: Option<WindowId>,
    /// What became of it.
    pub outcome: Outcome,
    /// Passes asked for.
    pub passes_asked: u32,
    /// Passes that ran to their end.
    pub passes_done: u32,
    /// Whether and where passes differed.
    pub divergence: Option<Divergence>,
    /// Its window's audit, at the window's first dispatch: that with a surprise where there were two.
    pub audit: Option<Audit>,
    /// Times, of the window's for a kernel window; zero for a dispatch of a batch window.
    pub phases: Phases,
    /// Bytes, likewise.
    pub bytes: Bytes,
    /// The write set, when [`crate::Settings::record_write_sets`] is on.
    pub write_set: Option<Arc<[Range]>>,
    /// Since the engine was made, when the dispatch came.
    pub start: Duration,
    /// Things that the reader of its numbers must know: counters that failed, regions in full copy, trust turned off.
    pub notes: Vec<String>,
}

/// A closed window.
#[derive(Clone, Debug)]
pub struct WindowRecord {
    /// Its number.
    pub id: WindowId,
    /// The agent.
    pub agent: AgentId,
    /// One dispatch or many.
    pub kind: WindowKind,
    /// Dispatches it held.
    pub dispatches: u32,
    /// Memory operations it recorded.
    pub operations: u32,
    /// Why it closed.
    pub closing: ClosingReason,
    /// The program's call that closed it, where the backend tells and the reason leaves open which it was.
    pub call: Option<&'static str>,
    /// Times.
    pub phases: Phases,
    /// Bytes.
    pub bytes: Bytes,
    /// The clock of the compute units as it ended, in MHz, where counters of the hardware were read and the vendor tells.
    pub clock_mhz: Option<u32>,
}

/// An agent that the engine drives.
#[derive(Clone, Debug)]
pub struct AgentRecord {
    /// What it is.
    pub description: AgentDescription,
    /// Its memory when the engine was made.
    pub memory: Option<MemoryState>,
    /// How the request is counted on it.
    pub plan: Plan,
}

/// Takes records. Called on the launching thread, with no lock of the engine held; it must be quick and must not
/// launch.
pub trait Recorder: Send + Sync + 'static {
    /// An agent was found.
    fn agent(&self, agent: AgentRecord);
    /// A dispatch is finished. Its readings may come later.
    fn dispatch(&self, record: DispatchRecord);
    /// A window closed; comes after its dispatches.
    fn window(&self, record: WindowRecord);
    /// Values of a dispatch, possibly from another thread.
    fn readings(&self, dispatch: DispatchId, readings: Vec<Reading>);
    /// Values of these dispatches are lost, all of them or some, for this reason. As with readings, their records came before.
    fn lost(&self, dispatches: &[DispatchId], why: String);
    /// A dispatch was not selected. Only counted: this is the fast path.
    fn not_selected(&self, agent: AgentId);
    /// Something the user should know once.
    fn warn(&self, key: &'static str, message: String);
}
