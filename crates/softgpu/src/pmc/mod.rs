//! The software GPU's performance counters: blocks, slots, events, and the commands that select and read them.
//!
//! ```text
//!  softgpu-aqlprofile                     thunk: packet processor                     exec
//!  start/read/stop ─▶ ib::encode_* ─▶ vendor packet ─▶ indirect_buffer ─▶ CounterBank::execute_ib
//!                                                                         CounterBank::accumulate ◀─ ExecStats
//!  iterate_data ◀──── output buffer ◀────────────────────────────────────┘ (read command)
//! ```
//!
//! It is the counter hardware of a `gfx90a` as far as a profiler can see it:
//!
//! - the **blocks** have the real names, ids and number of instances, and the real number of counter slots per instance
//!   ([`BLOCKS`]), so a request of more events needs more passes; selecting more events of a block than it has slots
//!   is a fault;
//! - the **events** have the real names and event ids. Each says in words what the simulation counts
//!   ([`SimEvent::definition`]), computed exactly from what the interpreter reports ([`ExecStats`]). An event whose
//!   real meaning is not simulated (cache hits, stalls, latencies, …) is not offered at all;
//! - counters **count on while they are read**, and stand still after a stop, as the hardware's do. Every dispatch on
//!   every queue of the device counts.
//!
//! What is a model and not a count: cycles and caches. The clock advances by one for each wave instruction, as if one
//! SIMD executed them all one after the other, and caches keep nothing. Whoever shows these values says that they are
//! simulated.
//!
//! [`ExecStats`]: crate::contract::ExecStats

mod bank;
mod block;
mod event;
pub mod ib;
mod select;

pub use bank::CounterBank;
pub use block::{BLOCKS, Block, BlockId};
pub use event::{EVENTS, SimEvent, Spread, find as find_event};
pub use select::{Selected, Selection, SelectionError};
