//! An agent in host memory: a test double, and what `kreplay bench engine` runs on.
//!
//! Kernels are closures over [`Memory`]. By default the agent is *lazy*: what is asked of it waits in its queue until
//! something makes it run (`answer`, `settle`, `drain`), as on a device; and the program's launches wait in queues of
//! their own, which run when the program synchronises or the agent is drained. So an engine that does not wait where it
//! must reads or overwrites the wrong bytes, and tests see it. Faults can be ordered for any call, by number.
//!
//! It panics when it is asked to touch memory that is not live, or to free something twice: that is an engine's bug.

mod agent;
mod builder;
mod control;
mod faults;
mod memory;
mod program;
mod queues;
mod seam;

pub use agent::MemoryAgent;
pub use builder::Builder;
pub use control::Usage;
pub use faults::{Call, Fault};
pub use memory::{Memory, Work};
