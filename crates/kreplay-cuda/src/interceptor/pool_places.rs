//! Where the memory of a pool lies: a pool may be another device's than the context's, the host's, or managed.

use super::{Interceptor, locked};
use crate::tables::{Context, MemoryPlace, MemoryPool};
use kreplay_engine::{RegionKind, Writers};
use std::collections::HashMap;
use std::sync::Mutex;

/// By pool, which keeps its place as long as it lives.
#[derive(Debug, Default)]
pub(super) struct PoolPlaces(Mutex<HashMap<MemoryPool, MemoryPlace>>);

impl PoolPlaces {
    /// A pool goes; its number may stand for another one later.
    pub(super) fn destroyed(&self, pool: MemoryPool) {
        locked(&self.0).remove(&pool);
    }

    /// Pools may be others from here on.
    pub(super) fn forget(&self) {
        locked(&self.0).clear();
    }
}

impl Interceptor {
    /// What an allocation of a pool is to its context, and who may write it. `pool`: where the program named it.
    pub(super) fn pool_kind(&self, context: Context, base: u64, pool: Option<MemoryPool>) -> (RegionKind, Writers) {
        // What a capture allocates lives only while its graph runs.
        if self.capturing() {
            return (RegionKind::Untracked, Writers::Seen);
        }
        match self.pool_place(base, pool) {
            Some(MemoryPlace::Device(device)) if self.device_of(context) == Some(device) => {
                (RegionKind::Pool, Writers::Seen)
            }
            Some(MemoryPlace::Device(_)) => (RegionKind::Imported, Writers::Others),
            Some(MemoryPlace::Host) => (RegionKind::Host { copyable: false }, Writers::Others),
            Some(MemoryPlace::Managed) => (RegionKind::Managed { copyable: false }, Writers::Others),
            None => (RegionKind::Untracked, Writers::Others),
        }
    }

    /// `None` where the driver does not tell.
    fn pool_place(&self, base: u64, pool: Option<MemoryPool>) -> Option<MemoryPlace> {
        let _depth = crate::agent::Depth::enter();
        let pool = pool.or_else(|| self.driver.pool_of(base));
        if let Some(pool) = pool
            && let Some(place) = locked(&self.pool_places.0).get(&pool)
        {
            return Some(*place);
        }
        // The driver is not asked under the lock.
        let place = self.driver.memory_place(base)?;
        if let Some(pool) = pool {
            locked(&self.pool_places.0).insert(pool, place);
        }
        Some(place)
    }
}
