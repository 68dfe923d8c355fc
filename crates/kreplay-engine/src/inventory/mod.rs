//! All live regions of an agent: an ordered map by base.
//!
//! Regions never overlap. An address range that is reported anew while an old region still covers it means that the old
//! one is gone (its free was not seen): the new one takes its place, under a new generation.

mod map;
mod reach;

pub(crate) use map::{Inventory, Live, UseInBatch, generations_so_far};

pub use map::Retired;
pub use reach::pointers;
