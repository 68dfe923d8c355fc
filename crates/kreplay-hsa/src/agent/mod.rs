//! A GPU behind the HSA runtime, as the engine drives it.
//!
//! ```text
//!   Agent ── copy, compare, synchronise, hash ─▶ tasks (tables of ranges) ─▶ kernels ┐
//!         ── submit (recorded dispatch) ────────▶ work ───────────────────────────────┼─▶ ring: one queue of our own
//!         ── answer, settle ────────────────────▶ own (signals, scratch, answers) ◀──┘
//!         ── drain ─────────────────────────────▶ program (what the program has in flight)
//! ```
//!
//! Everything goes through one plain queue, made with the runtime's own functions, so that it is neither intercepted nor
//! seen by the program. Each packet on it has the barrier bit and system fences: the order of the calls is the order on
//! the device. The queue is made at first use, not when the library is loaded: the runtime sets up its trap handler
//! only after the tools.
//!
//! On a chip without device kernels there is no compare, synchronise or hash
//! ([`Capabilities::observe`](kreplay_engine::Capabilities) is false): copies are then the runtime's own.

mod backend;
#[cfg(test)]
mod conformance;
mod error;
mod kernels;
mod own;
mod packets;
mod pools;
mod program;
mod ring;
mod scratch;
mod signals;
mod tasks;
mod work;

pub(crate) use backend::Gpu;
pub use backend::HsaAgent;
pub use work::HsaWork;
pub(crate) use work::{Saved, Valid};

pub(crate) use pools::{PoolInfo, pools_of};
pub(crate) use program::{Pause, ProgramWork, QueueWork};
pub(crate) use signals::create as create_signal;
