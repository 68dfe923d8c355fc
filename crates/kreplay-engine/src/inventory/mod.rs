//! All live regions of an agent: an ordered map by base.
//!
//! Regions never overlap. An address range that is reported anew while an old region still covers it means that the old
//! one is gone (its free was not seen): the new one takes its place, under a new generation.

mod in_batch;
mod live;
mod map;
mod reach;
mod variables;

pub(crate) use in_batch::UseInBatch;
pub(crate) use live::{Live, generations_so_far};
pub(crate) use map::Inventory;

pub use live::Retired;
pub use reach::pointers;
