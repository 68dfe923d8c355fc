//! Queues: rings of packets, each with a thread that processes them.
//!
//! - [`aql`] processes AQL packets: kernel dispatches, barriers, AMD's vendor packets (PM4 indirect buffer, barrier value).
//! - [`sdma`] processes the copy engine's packets: copies, fills, fences, polls, atomics, timestamps, traps.
//!
//! Packets of one queue complete in order; different queues run at the same time. A queue that has nothing to do looks at
//! its doorbell ever less often, at most 200 µs apart.
//!
//! **Errors.** A packet that cannot be executed stops its queue for good, is told of in one line on stderr, and becomes an
//! error that the program sees: for AQL the queue's inactive signal gets a code that ROCr turns into a status for the
//! queue's callback (see [`error`]); a memory fault also raises the memory event, as a real GPU's does. The completion
//! signal of such a packet is never decremented.

pub mod aql;
mod backoff;
pub mod dispatch;
pub mod error;
pub mod packet;
mod registry;
mod ring;
pub mod sdma;
mod signal;

pub use registry::{QueueError, QueueKind, QueueRequest, QueueResource, Queues};
pub use ring::Ring;
