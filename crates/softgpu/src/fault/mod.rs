//! Faults put in on purpose, so that what stands above can be tested against a GPU that misbehaves.
//!
//! A specification is one or more of these, separated by `;` (environment variable `SOFTGPU_FAULT`, or
//! `softgpu_fault_inject` of the thunk library):
//!
//! | fault | what happens |
//! |---|---|
//! | `alloc-fail:n=N[,pool=vram\|host]` | the Nth allocation fails |
//! | `drop-signal:n=N` | the Nth dispatch runs, but its completion signal is never decremented |
//! | `spin:n=N` | the Nth dispatch does not begin until faults are taken out; it ends without completing when its queue is destroyed |
//! | `missed-write:n=N[,chunk=4096]` | what the Nth dispatch stored in the first chunk it changed is undone |
//! | `escaped-write:n=N[,address=A]` | the Nth dispatch also changes a byte at A, or in the page behind those that it wrote |
//! | `foreign-write:n=N,address=A,bytes=HEX` | before the Nth dispatch somebody else writes these bytes |
//! | `corrupt-copy:n=N` | the Nth SDMA copy gets one byte wrong |
//! | `sampling-merge:n=N` | in the samples the Nth dispatch runs together with the next one |
//! | `sampling-lose:n=N` | the Nth sample is not stored, and nothing tells |
//! | `sampling-stray:n=N` | in the samples something else runs two intervals behind the Nth dispatch |
//! | `sampling-stuck:n=N` | the Nth programming of a group is accepted, and the one before stays |
//! | `queue-error:n=N[,code=C]` | the Nth dispatch becomes a queue error with inactive-signal value C (default: illegal instruction) |
//!
//! N counts from 1, from when the fault is put in; for samples, while sampling is on. Kernels of the runtime count too (it copies, fills and uploads code with some), so
//! `kernel=K` counts only dispatches of that kernel object; `count=M` makes M
//! in a row misbehave, `count=all` every one from the Nth. Numbers may be decimal or `0x…`.

mod plan;
mod spec;

pub use plan::{Faults, Hit};
pub use spec::{FaultKind, FaultSpec, Pool, SamplingFault, SpecError};
