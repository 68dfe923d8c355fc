//! What can be wrong with bytes that came over the socket.

use crate::{MAX_FRAME, PROTOCOL_VERSION};

/// A frame's bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not a message of this protocol version.
    #[error("a frame of {bytes} bytes holds no message of protocol version {PROTOCOL_VERSION}: {why}")]
    NotAMessage {
        /// Bytes of the frame.
        bytes: usize,
        /// What the decoder met.
        why: String,
    },
    /// The message ended before the frame did.
    #[error("a frame of {bytes} bytes has {extra} bytes after its message")]
    TrailingBytes {
        /// Bytes of the frame.
        bytes: usize,
        /// Bytes that belong to no message.
        extra: usize,
    },
    /// A sender built, or a peer announced, a frame that is too long.
    #[error("a frame of {bytes} bytes is longer than the {MAX_FRAME} bytes allowed")]
    TooLong {
        /// Bytes of the frame.
        bytes: usize,
    },
}

/// The first 16 bytes of a connection are not those of a peer that speaks this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreambleError {
    /// Something that is not kreplay is at the other end.
    #[error("the other side of the socket is not kreplay: it began with {found:02x?}")]
    NotKreplay {
        /// The first eight bytes.
        found: [u8; 8],
    },
    /// The other side is another version of kreplay.
    #[error(
        "the other side speaks protocol version {theirs} and this side {PROTOCOL_VERSION}: the kreplay command and \
         libkreplay.so come from different versions; install both from one"
    )]
    OtherVersion {
        /// The version of the other side.
        theirs: u32,
    },
}

/// Receiving a message failed.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The socket failed, or closed in the middle of a frame.
    #[error("the connection broke: {0}")]
    Socket(#[from] std::io::Error),
    /// The frame is not a message.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The first bytes are not a preamble of this version.
    #[error(transparent)]
    Preamble(#[from] PreambleError),
}
