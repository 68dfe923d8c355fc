//! Counters of AMD agents.
//!
//! ```text
//!  catalogue   what AMD's chips can count: names, blocks, event numbers, units; metrics; sets      pure, works without a device
//!  expression  metrics are expressions over counters                                               pure
//!  planner     a request into the fewest passes that the slots of the blocks allow                 pure
//! ```
//!
//! A counter sits in a *block* of the chip. Every instance of a block has a few *slots*; an event takes one in each
//! instance, so a pass holds as many events of a block as it has slots, whatever other blocks count. Values are sums
//! over all instances.
//!
//! Whether values are simulated is a property of the agent, not of the catalogue; the catalogue only knows which
//! counters the software GPU offers ([`Catalogue::of`] with `simulated`).

mod catalogue;
mod expression;
mod near;
mod planner;

pub use catalogue::{Block, Catalogue, Counter, DERIVED, Metric, Set};
pub use expression::{Evaluation, Expression, ExpressionError};
pub use planner::pack;
