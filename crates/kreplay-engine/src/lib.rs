//! The replay engine. It knows no vendor.
//!
//! A GPU counts only a few things at a time, so a kernel is run once per counter group. The engine makes every one of
//! these *passes* start from the same memory, checks that they did the same work, and leaves memory as one real run
//! would have. It drives one [`Agent`] (a GPU) and its [`Counters`], and is told by an *interceptor* what the program
//! does.
//!
//! # The life of a dispatch
//!
//! ```text
//!  interceptor                       engine                                   agent, counters
//!  ───────────                       ──────                                   ───────────────
//!  dispatch(info, record) ─────────▶ filter, policy, verdict
//!      ◀── Decision::Run(guard)      not selected, or declined: the program's own call, once
//!      ◀── Decision::Window(w)       lock agent ───────────────────────────▶ drain
//!  w.run_until_last() ─────────────▶ open: synchronise shadow ← memory ────▶ synchronise
//!                                    pass 0 ───────────────────────────────▶ begin, submit, end
//!                                    compare: write set ───────────────────▶ compare
//!                                    restore, pass 1 … N−2, checks ────────▶ copy, begin, submit, end, hash
//!                                    repair what escaped ──────────────────▶ synchronise
//!                                    last pass is begun ───────────────────▶ begin
//!  the program's own launch ───────────────────────────────────────────────▶ (the last pass)
//!  w.close() ──────────────────────▶ last pass ends, checks, commit ───────▶ end, synchronise, collect
//!                                    unlock, record
//! ```
//!
//! This is a *kernel window*. A *batch window* holds many dispatches: pass 0 is the program's own stream of launches and
//! memory operations, recorded as they go by ([`Decision::Recorded`], [`Engine::memory_operation`]); when it closes the
//! engine replays the list for the further passes and puts pass 0's *post* image back. It closes when it is full
//! ([`BatchLimits`]; within them the engine chooses its length from what windows cost), before anything that cannot be
//! recorded ([`Engine::operation`], a free that is neither held back nor lingers), and at the program's end. Where the counters cannot
//! count the program's own launches ([`Counters::counts_program_queues`]), they count replays only. Where they can, a
//! single pass needs no replay: such a batch window counts in line, takes no snapshot, records nothing, and goes on
//! whatever the program does with memory.
//!
//! # The contract of the seam
//!
//! **Who validates.** The interceptor hands over only what it knows to be true: a region is reported after the
//! allocation succeeded and retired *before* it is freed ([`Engine::region_retire`]); it is reinstated if the free
//! fails. What an interceptor cannot describe (unknown argument sizes, a multi-packet submission, a capture) it says
//! in [`DispatchInfo`], and the engine declines. The engine never passes an agent a range outside live regions of the
//! right generation or outside backing that the agent allocated. Agents do not check again.
//!
//! **Which order of calls is legal.** Work of one agent is ordered: `copy`, `compare`, `synchronise`, `hash`, `submit`, `mark`,
//! and the counters' `begin`, `before`, `after`, `end` take effect on the device in the order of the calls, on the
//! agent's own queue. None of them waits for the host but [`Agent::answer`], [`Agent::drain`] and [`Agent::settle`].
//! All are called with the agent's gate held exclusively, by one thread at a time; not always the same thread.
//! `allocate`, `free`, `memory` and `reached` may be called at any time.
//!
//! **What an error means.** [`AgentError::Exhausted`] is a lack of memory and never harms what is there: the engine
//! tries the next tier, or declines. [`AgentError::Deadline`] means that work may still be running: the engine touches
//! nothing more and reports. [`AgentError::Lost`] is sticky: every later dispatch declines with `agent_lost`. Any other
//! error fails the window: the engine repairs memory from the snapshot if it can, and reports.
//!
//! **How far the queue has come.** After [`AgentError::Deadline`] from `submit`, `settle` or `answer` the engine asks
//! [`Agent::reached`] before anything else, to learn which entry of a batch window did not end: of marks that it put before
//! the first entry and behind each, those that were reached are counted. An agent counts a mark only when all work before it
//! is over. It puts marks ([`Agent::mark`]) only in passes of kernels of which one has met a deadline before, since they cost
//! and counters may see them; between `before` and `after` of a dispatch there is none. An agent that cannot mark its queue
//! answers `None`, always; a deadline then refuses every kernel of the window.
//!
//! **What survives a failure.** After every exit from a window (early stop, failed pass, expired deadline, divergence,
//! lost agent) memory is what one real run would have left, as far as the agent still answers. The program's own call
//! always runs exactly once: an interceptor that was handed a [`Window`] submits the program's launch whatever
//! [`Window::run_until_last`] says, then calls [`Window::close`]. Dropping a window without closing it closes it as
//! failed.
//!
//! **Concurrency.** Each agent has a gate. A window holds it alone from drain to release; everything else that the program
//! submits holds it shared while it is submitted ([`RunGuard`]), and reports of births and deaths of regions pass through it
//! too. So siblings are kept out for the whole window, and agents do not wait for each other. A batch window that records
//! does not hold the gate; it takes one launch or operation at a time, in the order of their submission.
//!
//! **Re-entrancy.** A dispatch made by a thread that has a window open on the same agent (from a policy or tool callback)
//! runs as it is and is recorded as declined, `reentrant`.
//!
//! Nothing here aborts, exits or prints. The recorder and the policy's `ended` are called without any lock held; the
//! policy's other calls come while the window is open.

#![forbid(unsafe_code)]

#[cfg(any(test, feature = "test-agent"))]
pub mod bench;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(test, feature = "test-agent"))]
pub mod memory_agent;

pub mod sampling;

mod agent;
mod call;
mod chunk_map;
mod counters;
mod decline;
mod dispatch;
mod engine;
mod gate;
mod inventory;
mod line;
mod lock;
mod near;
mod policy;
mod process;
mod range;
mod record;
mod region;
mod settings;
mod shadow;
mod staging;
mod thread;
mod timing;
mod verify;
mod window;

pub use agent::{
    Agent, AgentDescription, AgentError, AgentId, Answer, Backing, Capabilities, MemoryState, Move, Pair, Ticket, Tier,
    Towards,
};
pub use call::InCall;
pub use chunk_map::ChunkMap;
pub use counters::{
    CounterInfo, Counters, CountersError, Deliver, Delivery, LostReadings, Plan, PlanError, PlannedCounter,
    PlannedPass, Reading, Request, Value, Way,
};
pub use decline::Decline;
pub use dispatch::{Arguments, DispatchId, DispatchInfo, Geometry, KernelInfo, Traits, WindowId};
pub use engine::{Decision, Engine, GraphNode, Member, Operation, RunGuard};
pub use inventory::{Retired, pointers};
pub use near::near_names;
pub use policy::{ByPlan, EveryKernel, Filter, PassEnd, Passes, Policy, Services, WindowStatus};
pub use process::Process;
pub use range::{Chunk, Range};
pub use record::{
    AgentRecord, Audit, AuditKind, Bytes, ClosingReason, DispatchRecord, Divergence, Outcome, Phases, Recorder,
    WindowKind, WindowRecord,
};
pub use region::{Generation, ModuleVariable, Region, RegionKind, Writers};
pub use settings::{BatchLimits, Reach, RestoreMode, Settings, ShadowMode, VerifyMode, WindowMode};
pub use window::{LastPass, Window};
