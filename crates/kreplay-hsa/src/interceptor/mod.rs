//! Stands between the program and the runtime: sees queues, packets, allocations, code objects and copies.
//!
//! ```text
//!   OnLoad ────────────────────────────▶ start       the tables, the session, who is replaced
//!   program ── hsa_queue_create ────────▶ queues      an intercept queue instead, with a record of its own
//!           ── doorbell ────────────────▶ launch      one handler on the submitting thread: window, or passed on
//!           ── allocations, frees ──────▶ allocations what is a region, of which kind, on which agent
//!           ── exports ─────────────────▶ exports     memory that others may write from now on
//!           ── code objects ────────────▶ code_objects  which arguments of kernels are pointers
//!           ── freeze, destroy ─────────▶ code        variables of code objects, names of kernels
//!           ── copies, fills ───────────▶ copies      held while a window is open or recorded; known to be in flight
//!           ── images ──────────────────▶ images      held likewise; a window that records ends before they go
//! ```
//!
//! Each function here stands in a slot of the runtime's tables ([`mod@install`]); behind it is the runtime's own function,
//! saved in [`Api`](crate::tables::Api). None lets a panic out: [`mod@guard`] catches it, says so once and turns the whole
//! library off, and the runtime's own function is what ran.
//!
//! # Windows
//!
//! HSA hands the interceptor the packets themselves, so it owns the submission. All passes, the program's own last one
//! too, run on the agent's own queue with a signal of ours; then the window is closed; only then is the program's
//! completion signal given the times of the last pass and lowered by one, by the host. Everything else on the agent was
//! drained before and is held back meanwhile, so no order that the program could see is lost.
//!
//! In a batch window the program's packets and copies go on as they are and are recorded; [`mod@recording`] tells which
//! copies can be done again. Its replays run on the agent's own queue, in the order of submission.

mod access;
mod allocation_hooks;
mod allocations;
mod code;
mod code_objects;
mod copies;
mod counted_queues;
mod ending;
mod exports;
mod foreign;
mod forked;
mod guard;
mod held_frees;
mod host_access;
mod host_pages;
mod images;
mod in_flight;
mod install;
mod launch;
mod lending;
mod live;
mod machine;
mod managed;
mod mappings;
mod metadata;
mod other_copies;
mod pass_on;
mod queues;
mod recording;
mod start;
mod state;
mod unit;

#[cfg(test)]
pub(crate) use install::HOOKED;
pub use start::{on_load, on_unload};

use guard::guard;
