//! Why a process is not profiled although it was asked to be.

use std::io;
use std::path::PathBuf;

/// Why a process is not profiled although [`kreplay_protocol::SOCKET_VARIABLE`] is set. The program goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The command does not listen (any more).
    #[error("nobody answers at {}: {source}; the kreplay command has ended", path.display())]
    NoCommand {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The command spoke another version, or no kreplay at all.
    #[error("the first exchange with the kreplay command failed: {0}")]
    Handshake(#[from] kreplay_protocol::ReceiveError),
    /// The command closed the connection, or sent nothing in time.
    #[error("the kreplay command sent no settings")]
    NoSettings,
    /// The command does not take this process.
    #[error("the kreplay command does not take this process: {why}")]
    Refused {
        /// Its reason.
        why: String,
    },
    /// A filter is not a regular expression.
    #[error("the kernel filter {pattern:?} is not a regular expression: {why}")]
    BadFilter {
        /// As given.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// The chunk size cannot be used.
    #[error("a chunk of {bytes} bytes cannot be used: it must be a power of two from 64 bytes to 1 GiB")]
    BadChunk {
        /// As given.
        bytes: u64,
    },
}
