//! Counters of AMD agents.
//!
//! ```text
//!  catalogue   what AMD's chips can count: names, blocks, event numbers, units; metrics; sets      pure, works without a device
//!  expression  metrics are expressions over counters                                               pure
//!  planner     a request into the fewest passes that the slots of the blocks allow                 pure
//!  library     AMD's AQL profile library, through ROCr's extension table or opened by name
//!  queue       what is needed of the agent: packets on its queue, and memory
//!  profile     the buffers and packets of one group of counters
//!  seam        the engine's `Counters`: windows, passes, readings around each dispatch
//!  sampling    the other way of counting: samples and fences, where the device has them
//!  decode      from stored values to readings and metrics, on a thread of its own (`worker`)
//! ```
//!
//! A counter sits in a *block* of the chip. Every instance of a block has a few *slots*; an event takes one in each
//! instance, so a pass holds as many events of a block as it has slots, whatever other blocks count. Values are sums
//! over all instances.
//!
//! Whether values are simulated is a property of the agent, not of the catalogue; the catalogue only knows which
//! counters the software GPU offers ([`Catalogue::of`] with `simulated`).

mod catalogue;
mod decode;
mod expression;
mod ffi;
mod library;
mod planner;
mod profile;
mod queue;
mod sampling;
mod seam;
mod window;
mod worker;

pub use catalogue::{Block, Catalogue, Counter, DERIVED, Metric, Set};
pub use decode::Device;
pub use expression::{Evaluation, Expression, ExpressionError};
pub use library::Library;
pub use planner::pack;
pub use queue::{PacketQueue, SharedBuffer};
pub use sampling::{SampleSource, Samples, SoftGpu};
pub use seam::{AqlCounters, Warn};

#[cfg(test)]
mod seam_tests;
