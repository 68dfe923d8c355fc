//! What a reader gives.
//!
//! Rows are no messages of the protocol, though they tell the same: they hold names where messages hold numbers, and stay as
//! they are when only the messages change.

use kreplay_protocol::{Audit, Bytes, Divergence, Outcome, Phases, Range, Value, Way, WindowKind};

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// The writer still runs, or died.
    Recording,
    /// Everything that was sent is in the file.
    Complete,
    /// The run ended in order, but records are missing.
    Incomplete,
}

impl RunState {
    /// The word in the file and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Recording => "recording",
            RunState::Complete => "complete",
            RunState::Incomplete => "incomplete",
        }
    }
}

/// One run of the command.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Version of the command that wrote the file.
    pub kreplay_version: String,
    /// The profiled command line.
    pub command: Vec<String>,
    /// The directory it ran in.
    pub directory: String,
    /// The machine's name.
    pub host: String,
    /// What the processes were told, as JSON.
    pub settings: serde_json::Value,
    /// When it began, nanoseconds since the Unix epoch.
    pub start_unix_ns: i64,
    /// When it ended.
    pub end_unix_ns: Option<i64>,
    /// How far it came.
    pub state: RunState,
    /// The program's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the program.
    pub exit_signal: Option<i32>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It had not ended when the file was last written.
    Running,
    /// In order: all its records are in the file.
    Ended,
    /// Its connection closed without a summary: it was killed, or ended without its last words.
    Lost,
}

impl ProcessState {
    /// The word in the file and in outputs.
    pub fn name(self) -> &'static str {
        match self {
            ProcessState::Running => "running",
            ProcessState::Ended => "ended",
            ProcessState::Lost => "lost",
        }
    }
}

/// A profiled process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRow {
    /// Its number in the file.
    pub id: i64,
    /// Its process id.
    pub pid: u32,
    /// Its parent's process id.
    pub parent_pid: u32,
    /// Its executable.
    pub exe: String,
    /// Its arguments.
    pub argv: Vec<String>,
    /// When its session began, nanoseconds since the Unix epoch.
    pub start_unix_ns: i64,
    /// How it ended.
    pub state: ProcessState,
    /// Dispatches that its filters left alone; known once it has ended.
    pub not_selected: Option<u64>,
    /// Dispatch records in the file.
    pub records: u64,
    /// Dispatch records that it says it made; known once it has ended.
    pub records_made: Option<u64>,
    /// Records that it could not send; known once it has ended.
    pub lost_records: Option<u64>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Its process, by number in the file.
    pub process: i64,
    /// Its number in the process.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// Its chip.
    pub chip: String,
    /// `hsa` or `cuda`.
    pub backend: String,
    /// Whether its counters are simulated.
    pub simulated: bool,
    /// Bytes of its memory, where known.
    pub memory_bytes: Option<u64>,
}

/// A counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRow {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its hardware block.
    pub block: String,
}

/// One pass of an agent's plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPassRow {
    /// The process.
    pub process: i64,
    /// The agent.
    pub agent: u64,
    /// The plan's number.
    pub plan: u32,
    /// The pass.
    pub pass: u32,
    /// How it counts.
    pub way: Way,
    /// What it was expected to cost for one dispatch, in nanoseconds, in a window as long as was expected.
    pub price_ns: u64,
    /// What it counts.
    pub counters: Vec<CounterRow>,
}

/// A closed window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowRow {
    /// The process.
    pub process: i64,
    /// Its number in the process.
    pub number: u64,
    /// The agent.
    pub agent: u64,
    /// Its kind.
    pub kind: WindowKind,
    /// Dispatches in it.
    pub dispatches: u32,
    /// Memory operations in it.
    pub operations: u32,
    /// What closed it.
    pub closed_by: String,
    /// The clock of the compute units as it ended, in MHz.
    pub clock_mhz: Option<u32>,
    /// What it moved and held.
    pub bytes: Bytes,
    /// Where its time went.
    pub phases: Phases,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadingRow {
    /// The counter.
    pub counter: CounterRow,
    /// The pass; `None` for a value evaluated from several.
    pub pass: Option<u32>,
    /// Which of several equal hardware units, else 0.
    pub instance: u32,
    /// The value. One that was computed and is whole is a count here, below zero a real number.
    pub value: Value,
    /// Whether it was computed from other counters.
    pub derived: bool,
    /// How its pass counted, where the plan is in the file and has the pass.
    pub way: Option<Way>,
    /// `None`: exact as the hardware counts. Else a bound of its error relative to the value.
    pub bound: Option<f64>,
}

/// A dispatch with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct DispatchRow {
    /// The process.
    pub process: i64,
    /// Its number in the process.
    pub number: u64,
    /// The agent.
    pub agent: u64,
    /// Whether its values are simulated.
    pub simulated: bool,
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
    /// The stream or queue.
    pub stream: u64,
    /// The launching thread.
    pub thread: u64,
    /// Bytes of arguments, where known.
    pub argument_bytes: Option<u32>,
    /// When it was launched, nanoseconds since its process's session began.
    pub start_ns: u64,
    /// When it was finished.
    pub end_ns: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it declined.
    pub reason: Option<String>,
    /// What the agent said about it.
    pub detail: String,
    /// Passes asked for.
    pub passes_asked: u32,
    /// Passes completed.
    pub passes_done: u32,
    /// Its window.
    pub window: Option<u64>,
    /// The kind of its window.
    pub window_kind: Option<WindowKind>,
    /// Its write set's ranges, where they were recorded.
    pub write_set: Vec<Range>,
    /// Whether ranges are missing.
    pub write_set_cut: bool,
    /// What was moved and held.
    pub bytes: Bytes,
    /// Where the time went.
    pub phases: Phases,
    /// The first difference between passes.
    pub divergence: Option<Divergence>,
    /// The audit made in its window.
    pub audit: Option<Audit>,
    /// What the reader of its numbers must know.
    pub notes: Vec<String>,
    /// Its values, by pass, then in the order of the counters' numbers.
    pub readings: Vec<ReadingRow>,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningRow {
    /// The process.
    pub process: i64,
    /// Its stable name.
    pub code: String,
    /// What happened, and what to do.
    pub text: String,
    /// Dispatches that declined for it, where it is a decline reason.
    pub dispatches: u64,
}
