//! What the recording thread is told.

use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, SyncSender};

use kreplay_protocol::{FromLibrary, Hello};
use kreplay_store::ProcessEnd;

/// Messages that wait for the file. When it is full the connections wait, and with them the program.
const WAITING: usize = 1024;

/// A connection's number in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConnectionId(pub(super) u64);

/// What happens to a profile.
pub(super) enum Event {
    /// A process said hello.
    Connected {
        /// Its connection.
        id: ConnectionId,
        /// Its words.
        hello: Hello,
        /// To be closed when the file fails.
        stream: UnixStream,
        /// Takes `None`, or why the process is refused.
        answer: SyncSender<Option<String>>,
    },
    /// A process said something.
    Message {
        /// Its connection.
        id: ConnectionId,
        /// What.
        message: FromLibrary,
    },
    /// A connection closed.
    Closed {
        /// Which.
        id: ConnectionId,
        /// How.
        end: ProcessEnd,
    },
    /// Something the user must know.
    Complaint(String),
    /// The program has ended; others of its processes may go on.
    ProgramEnded,
    /// The user wants no more waiting for processes that run.
    Stop,
}

/// Where events go.
pub(super) type Events = SyncSender<Event>;

/// The channel `everybody --events--> recording thread`.
pub(super) fn channel() -> (Events, Receiver<Event>) {
    mpsc::sync_channel(WAITING)
}
