//! The HSA backend: AMD GPUs, and the software GPU, behind the ROCr runtime.
//!
//! ```text
//!  runtime ── OnLoad(tables) ─▶ load ─▶ tables      versions checked, the runtime's functions saved, ours put in
//!  program ── hsa_* ──────────▶ interceptor ─▶ engine (kreplay-engine)
//!                                                │
//!                               agent ◀──────────┤  memory, copies, compare, passes, drain
//!                               counters ◀───────┘  AQL profile packets around each pass
//! ```
//!
//! Without a command that listens (`KREPLAY_SOCKET`) the library touches nothing. A runtime whose tables are not known is
//! left alone, with a message; see [`TablesError`].
//!
//! Device kernels come as code objects built from `kernels/memory.hip`, for gfx90a, gfx942, gfx1030, gfx1100 and gfx1201.
//! On another chip the runtime's own copies and full restore are used.

mod abi;
mod agent;
pub mod counters;
mod interceptor;
mod tables;
mod thread;

pub use agent::{HsaAgent, HsaWork};
pub use interceptor::{on_load, on_unload};
pub use tables::TablesError;
