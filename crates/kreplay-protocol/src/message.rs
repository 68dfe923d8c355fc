//! The messages of both directions.

use serde::{Deserialize, Serialize};

use crate::{Agent, Counter, Dispatch, Kernel, Note, Plan, Readings, Settings, Window};

/// What the library says. The order of the variants is part of the protocol version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromLibrary {
    /// First message of a process.
    Hello(Hello),
    /// An agent, before the first record that names it.
    Agent(Agent),
    /// A counter, before the first plan or reading that names it.
    Counter(Counter),
    /// How a request was packed into passes, before the first dispatch that names it.
    Plan(Plan),
    /// A kernel, before the first dispatch that names it.
    Kernel(Kernel),
    /// A window that has closed.
    Window(Window),
    /// A dispatch that has finished.
    Dispatch(Box<Dispatch>),
    /// Values of one dispatch; any time after it.
    Readings(Readings),
    /// What must be known of dispatches; any time after them.
    Note(Note),
    /// Something the user should know; once for each reason.
    Warning(Warning),
    /// The process ends in order.
    Summary(Summary),
}

/// What the command says. The order of the variants is part of the protocol version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromCommand {
    /// The answer to [`Hello`]: what to do in this process.
    Settings(Settings),
    /// The command cannot take this process (its file is full or closed); the process goes on unprofiled.
    Refused {
        /// One sentence for the user.
        why: String,
    },
}

/// Who is speaking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Process id.
    pub pid: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Path of the executable; empty when unknown.
    pub exe: String,
    /// The arguments, the program's name first, shortened by [`crate::bounded_list`].
    pub argv: Vec<String>,
    /// When the session began, nanoseconds since the Unix epoch. Other times of the process count from here.
    pub start_unix_ns: u64,
    /// Version of the library's package.
    pub library_version: String,
}

/// Something the user should know, said once for each reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable name; a decline reason's name for declines.
    pub code: String,
    /// What happened, and what to do about it.
    pub text: String,
}

/// The last message of a process that ends in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Dispatches replayed.
    pub replayed: u64,
    /// Dispatches counted once, without a snapshot.
    pub counted: u64,
    /// Dispatches that declined, by reason.
    pub declined: Vec<(String, u64)>,
    /// Dispatches that the filters left alone.
    pub not_selected: u64,
    /// Kernel windows closed.
    pub kernel_windows: u64,
    /// Batch windows closed.
    pub batch_windows: u64,
    /// Records that could not be sent. Not zero only after the connection was given up.
    pub lost_records: u64,
}
