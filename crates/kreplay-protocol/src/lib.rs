//! What the injected library and the command say to each other.
//!
//! # The conversation
//!
//! The command listens on a Unix stream socket whose path it puts into the environment ([`SOCKET_VARIABLE`]). Each
//! profiled process opens one connection:
//!
//! ```text
//! library                                         command
//!   preamble  (16 bytes, raw)          ->
//!                                      <-           preamble (16 bytes, raw)
//!   Hello                              ->
//!                                      <-           Settings
//!   Agent, Counter, Plan, Kernel       ->                          each before the first record that names it
//!   Window, Dispatch, Readings, Note, Warning ->                   as things finish
//!   Summary                            ->                          once, at the end; then the connection closes
//! ```
//!
//! The preamble is the only part whose layout never changes: it carries the magic and [`PROTOCOL_VERSION`], so that two
//! versions that do not understand each other find out before anything is decoded. Everything after it travels in
//! *frames*: a length of four bytes, little endian, then that many bytes of [`postcard`]. A frame holds one
//! [`FromLibrary`] or one [`FromCommand`].
//!
//! # Promises
//!
//! * The decoder never panics and never allocates more than a small multiple of the frame it was given; a frame is at
//!   most [`MAX_FRAME`] bytes.
//! * Numbers that name things (agents, kernels, counters, plans, windows, dispatches) are unique within one process
//!   and never used twice in it.
//! * [`Readings`] of a dispatch, and a [`Note`] that they are lost, may come any time after its [`Dispatch`]: decoding
//!   happens beside the GPU.
//! * Any change of a message's shape changes [`PROTOCOL_VERSION`]; there is no negotiation, since library and command
//!   are installed together.

#![forbid(unsafe_code)]

mod bounded;
mod describe;
mod error;
mod frame;
mod message;
mod preamble;
mod record;
mod settings;

pub use bounded::{MAX_RANGES, MAX_TEXT, bounded_list, bounded_text};
pub use describe::{Agent, Counter, Kernel, Plan, PlanPass, Way};
pub use error::{DecodeError, PreambleError, ReceiveError};
pub use frame::{FrameReader, MAX_FRAME, decode, decode_command, encode, encode_command, read_command, read_library};
pub use message::{FromCommand, FromLibrary, Hello, Summary, Warning};
pub use preamble::{MAGIC, PREAMBLE_BYTES, PROTOCOL_VERSION, check_preamble, preamble};
pub use record::{
    Audit, AuditKind, Bytes, Dispatch, Divergence, DivergenceKind, Note, Outcome, Phases, Range, Reading, Readings,
    TierBytes, Value, Window, WindowKind,
};
pub use settings::{
    Cache, Deadlines, Device, Filters, Limits, LogLevel, Reach, Restore, Settings, Shadow, Verify, Ways, WindowChoice,
};

/// Environment variable that holds the path of the command's socket. A process without it is not profiled.
pub const SOCKET_VARIABLE: &str = "KREPLAY_SOCKET";
