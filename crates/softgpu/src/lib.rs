//! A software GPU: one `gfx90a` agent that lives in the process that uses it.
//!
//! The real ROCr runtime reaches a GPU through one library, the thunk. `softgpu-thunk` is such a library; behind it
//! stands this crate. Everything above the thunk (ROCr, HIP, tools, programs) is unmodified.
//!
//! ```text
//!  ROCr ── hsaKmt* ──▶ softgpu-thunk ──▶ device ─┬─ memory   address space, faults, write oracle
//!                                                ├─ event    events and signals' mailboxes
//!                                                └─ queue    AQL and SDMA packet processors
//!                                                     │
//!                                                     ▼
//!                                                   exec     one dispatch: work-groups, waves, barriers
//!                                                     │
//!                                                     ▼
//!                                                   isa      decoder and instructions of gfx90a
//! ```
//!
//! The parts meet in [`contract`]: what a dispatch is, what memory answers, what an execution reports. The counters
//! (`pmc`) read what an execution reports and are reached through `softgpu-aqlprofile`; `sampling` streams the same counts.
//!
//! It **fails closed**: an unknown instruction, a bad address or a bad packet becomes a queue error that the program
//! sees, with the mnemonic or address in a message; never a normal completion.

pub mod contract;
pub mod device;
pub mod event;
pub mod exec;
pub mod fault;
pub mod isa;
pub mod memory;
pub mod pmc;
pub mod queue;
pub mod sampling;
pub mod topology;
