//! Memory pools while what the program frees to them must stay mapped.
//!
//! A stream-ordered free gives memory back to its pool, at an address that stays mapped until the pool returns it to the
//! system: when something synchronises, as far as the pool holds more than its release threshold. While a batch window has
//! recorded work that uses such memory, the pool is *held*: its threshold is raised, and put back when the last hold ends.
//! The next synchronise then gives back what it would have given back before.
//!
//! Whether the memory did stay is checked where it can be: the backing must not shrink while a pool is held (the driver takes
//! unused memory away when an allocation elsewhere fails), and what is allocated from it must lie where memory is known to
//! be mapped, or be new backing. See [`mapped`].

#[cfg(test)]
mod gpu_tests;
mod mapped;

use crate::agent::Depth;
use crate::tables::{Driver, MemoryPool, pool_attribute};
use kreplay_engine::Range;
use mapped::Mapped;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The pools of the process.
#[derive(Debug)]
pub(crate) struct Pools {
    driver: Arc<Driver>,
    /// Holds of all pools.
    held: AtomicU64,
    known: Mutex<HashMap<MemoryPool, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    holds: u64,
    /// The program's own release threshold, while the pool is held.
    threshold: u64,
    /// Bytes that backed it when it was looked at last.
    reserved: u64,
    /// Something may have been taken away since it is held.
    doubtful: bool,
    /// The program has destroyed it: the driver is not asked about it any more.
    destroyed: bool,
    mapped: Mapped,
}

impl Known {
    /// What backs it is this now: if that is less than before, something unused is gone.
    fn shrunk(&mut self, reserved: u64) {
        if reserved < self.reserved {
            self.mapped.forget_unused();
            self.doubtful = true;
        }
    }
}

/// What the program had allocated from a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pooled {
    pool: MemoryPool,
    range: Range,
}

impl Pools {
    pub(crate) fn new(driver: Arc<Driver>) -> Self {
        Self { driver, held: AtomicU64::new(0), known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<MemoryPool, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any pool is held: one relaxed load.
    pub(crate) fn any_held(&self) -> bool {
        self.held.load(Ordering::Relaxed) > 0
    }

    /// Whether this pool is held.
    pub(crate) fn is_held(&self, pool: MemoryPool) -> bool {
        self.any_held() && self.known().get(&pool).is_some_and(|known| known.holds > 0)
    }

    /// Holds the pool of an allocation that is about to be freed. `None` where it is of none, or cannot be held.
    pub(crate) fn hold(&self, address: u64) -> Option<MemoryPool> {
        let _depth = Depth::enter();
        let pool = self.driver.pool_of(address)?;
        let mut pools = self.known();
        let known = pools.entry(pool).or_default();
        if known.holds == 0 {
            let number = |attribute| self.driver.pool_number(pool, attribute).ok();
            let threshold = number(pool_attribute::RELEASE_THRESHOLD)?;
            self.driver.set_pool_number(pool, pool_attribute::RELEASE_THRESHOLD, u64::MAX).ok()?;
            (known.threshold, known.doubtful) = (threshold, false);
            if threshold < u64::MAX {
                // Synchronising may have given back what was unused.
                known.mapped.forget_unused();
            }
            match number(pool_attribute::RESERVED_CURRENT) {
                Some(reserved) => known.reserved = reserved,
                None => known.doubtful = true,
            }
        }
        known.holds += 1;
        self.held.fetch_add(1, Ordering::Relaxed);
        Some(pool)
    }

    /// A hold ends. With the last one of a pool its threshold is the program's again.
    pub(crate) fn release(&self, pool: MemoryPool) {
        let _depth = Depth::enter();
        let mut pools = self.known();
        let Some(known) = pools.get_mut(&pool).filter(|known| known.holds > 0) else { return };
        known.holds -= 1;
        self.held.fetch_sub(1, Ordering::Relaxed);
        if known.holds > 0 {
            return;
        }
        if known.destroyed {
            pools.remove(&pool);
        } else {
            // It was set before, so it can be set.
            let _ = self.driver.set_pool_number(pool, pool_attribute::RELEASE_THRESHOLD, known.threshold);
        }
    }

    /// The program is about to destroy a pool.
    pub(crate) fn destroyed(&self, pool: MemoryPool) {
        let mut pools = self.known();
        let Some(known) = pools.get_mut(&pool) else { return };
        if known.holds > 0 {
            (known.destroyed, known.doubtful) = (true, true);
        } else {
            pools.remove(&pool);
        }
    }

    /// A context is gone, and what was allocated in it; pools may be others from here on.
    pub(crate) fn forget(&self) {
        self.known().retain(|_, known| known.holds > 0);
    }

    /// The program has set this pool's release threshold, or trimmed it, although it is held.
    pub(crate) fn changed(&self, pool: MemoryPool) {
        let _depth = Depth::enter();
        let mut pools = self.known();
        let held = |known: &&mut Known| known.holds > 0 && !known.destroyed;
        let Some(known) = pools.get_mut(&pool).filter(held) else { return };
        known.doubtful = true;
        if let Ok(threshold) = self.driver.pool_number(pool, pool_attribute::RELEASE_THRESHOLD)
            && threshold < u64::MAX
        {
            known.threshold = threshold;
        }
    }

    /// The program is about to ask a pool for memory: what grows then is told from what was given back before.
    pub(crate) fn allocating(&self) {
        let _depth = Depth::enter();
        for (pool, known) in self.known().iter_mut().filter(|(_, known)| !known.destroyed) {
            let Ok(reserved) = self.driver.pool_number(*pool, pool_attribute::RESERVED_CURRENT) else { continue };
            known.shrunk(reserved);
            known.reserved = reserved;
        }
    }

    /// The program got memory from a pool.
    pub(crate) fn allocated(&self, range: Range) {
        let _depth = Depth::enter();
        let Some(pool) = self.driver.pool_of(range.base) else { return };
        let Ok(reserved) = self.driver.pool_number(pool, pool_attribute::RESERVED_CURRENT) else { return };
        let mut pools = self.known();
        let known = pools.entry(pool).or_default();
        known.shrunk(reserved);
        let growth = reserved.saturating_sub(known.reserved);
        known.reserved = reserved;
        if !known.mapped.allocated(range, growth) {
            known.doubtful = true;
        }
    }

    /// The program frees what begins here; gives what [`Pools::not_freed`] takes if that fails.
    pub(crate) fn freed(&self, base: u64) -> Option<Pooled> {
        let mut pools = self.known();
        pools.iter_mut().find_map(|(pool, known)| {
            let bytes = known.mapped.freed(base)?;
            Some(Pooled { pool: *pool, range: Range::new(base, bytes) })
        })
    }

    /// A free failed.
    pub(crate) fn not_freed(&self, pooled: Pooled) {
        if let Some(known) = self.known().get_mut(&pooled.pool) {
            known.mapped.kept(pooled.range.base, pooled.range.bytes);
        }
    }

    /// Looks at what backs the pools that are held. Called after whatever may take memory away from them.
    pub(crate) fn look(&self) {
        if !self.any_held() {
            return;
        }
        let _depth = Depth::enter();
        for (pool, known) in self.known().iter_mut().filter(|(_, known)| known.holds > 0 && !known.destroyed) {
            match self.driver.pool_number(*pool, pool_attribute::RESERVED_CURRENT) {
                Ok(reserved) if reserved >= known.reserved => {}
                _ => known.doubtful = true,
            }
        }
    }

    /// Whether everything that was freed to held pools is still mapped, as far as that can be told.
    pub(crate) fn kept(&self) -> bool {
        self.look();
        !self.any_held() || self.known().values().all(|known| known.holds == 0 || !known.doubtful)
    }
}
