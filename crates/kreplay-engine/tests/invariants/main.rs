//! The design's invariants, by number, as far as an agent in host memory can show them. Invariants 8 and 9 are the
//! file's.

mod audits;
mod memory;
mod passes;
mod room;
mod selection;
mod setup;
mod snapshot;
#[path = "../support/mod.rs"]
mod support;
mod trusted;
