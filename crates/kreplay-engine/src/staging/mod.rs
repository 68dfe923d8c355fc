//! Host storage for snapshots, pooled and retained per agent.
//!
//! ```text
//! acquire(agent, size) ── a retained buffer with capacity in [size, 2·size]? ── yes ──▶ the smallest such
//!                                                                            └─ no ───▶ allocate size bytes
//! buffer dropped ────────▶ its storage returns to its agent's pool, exactly once
//! a capture ends ────────▶ trim(agent): what the capture did not take is freed
//! ```
//!
//! So between dispatches a pool holds at most the last snapshot's footprint. A small request never takes a buffer more
//! than twice its size, which a later, larger one would then have to allocate again. Storage is allocated through the
//! agent, which pins it once, and is not filled; it lives from window to window, so neither page faults nor pinning are
//! paid per dispatch. All agents share one budget of the process.
//!
//! A buffer may outlive everything: when a pool is closed (the program ends) a buffer that returns late is left to the
//! system, since the vendor's runtime may be gone by then.

mod budget;
mod pool;
#[cfg(test)]
mod tests;

pub(crate) use pool::{Buffer, Staging, Storage};
