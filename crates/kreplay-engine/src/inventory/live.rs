//! A region in the inventory, and its generation.

use crate::region::Treatment;
use crate::{Generation, Region};
use std::sync::atomic::{AtomicU64, Ordering};

/// Generations are counted over all agents, so that one never stands for two regions.
static NEXT_GENERATION: AtomicU64 = AtomicU64::new(1);

pub(super) fn next_generation() -> Generation {
    Generation(NEXT_GENERATION.fetch_add(1, Ordering::Relaxed))
}

/// Every region that has been born so far has a smaller generation.
pub(crate) fn generations_so_far() -> Generation {
    Generation(NEXT_GENERATION.load(Ordering::Relaxed))
}

/// A region in the inventory.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) generation: Generation,
    pub(crate) region: Region,
    pub(crate) treatment: Treatment,
}

/// A region that was retired before its free; hand it to [`crate::Engine::region_reinstate`] when the free fails.
#[derive(Clone, Debug)]
#[must_use = "reinstate it if the free fails"]
pub struct Retired(pub(crate) Live);

impl Retired {
    /// The region.
    pub fn region(&self) -> &Region {
        &self.0.region
    }

    /// Its generation, which it keeps when it is reinstated.
    pub fn generation(&self) -> Generation {
        self.0.generation
    }
}
