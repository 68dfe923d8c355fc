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

/// Why a pool is doubted that tells nothing.
const NOT_TOLD: &str = "the driver did not tell the size of the pool";

/// The pools of the process.
#[derive(Debug)]
pub(crate) struct Pools {
    driver: Arc<Driver>,
    /// Holds of all pools.
    held: AtomicU64,
    /// Requests that the program is making of pools.
    asking: Arc<AtomicU64>,
    known: Mutex<HashMap<MemoryPool, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    holds: u64,
    /// The program's own release threshold, while the pool is held.
    threshold: u64,
    /// Bytes that backed it when it was looked at last.
    reserved: u64,
    /// Why something may have been taken away since it is held.
    doubt: Option<String>,
    /// The program has destroyed it: the driver is not asked about it any more.
    destroyed: bool,
    mapped: Mapped,
}

impl Known {
    /// What backs it is this now: if that is less than before, something unused is gone.
    fn seen(&mut self, reserved: u64) {
        if reserved < self.reserved {
            self.mapped.forget_unused();
            self.doubt(|known| format!("the pool shrank from {} bytes to {reserved}", known.reserved));
        }
        if !self.mapped.backed_by(reserved) {
            self.doubt(|_| {
                format!("the pool's size of {reserved} bytes is not made of the steps it was taken to be made of")
            });
        }
    }

    /// The first doubt stays; while it is not held there is nothing to doubt.
    fn doubt(&mut self, why: impl FnOnce(&Self) -> String) {
        if self.holds > 0 && self.doubt.is_none() {
            self.doubt = Some(why(self));
        }
    }
}

/// A request of the program, until its end was looked at.
#[derive(Debug)]
pub(crate) struct Asking(Arc<AtomicU64>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
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
        Self { driver, held: AtomicU64::new(0), asking: Arc::default(), known: Mutex::default() }
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
            (known.threshold, known.doubt) = (threshold, None);
            match number(pool_attribute::RESERVED_CURRENT) {
                // Synchronising may have given back what was unused since the program allocated last.
                Some(reserved) => {
                    known.seen(reserved);
                    known.reserved = reserved;
                }
                None => known.doubt = Some(NOT_TOLD.into()),
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
            known.destroyed = true;
            known.doubt(|_| "the program destroyed the pool".into());
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
        known.doubt(|_| "the program trimmed the pool or set its threshold".into());
        if let Ok(threshold) = self.driver.pool_number(pool, pool_attribute::RELEASE_THRESHOLD)
            && threshold < u64::MAX
        {
            known.threshold = threshold;
        }
    }

    /// The program is about to ask a pool for memory: what grows then is told from what was given back before. Keep what this
    /// gives until [`Pools::allocated`].
    #[must_use]
    pub(crate) fn allocating(&self) -> Asking {
        self.asking.fetch_add(1, Ordering::AcqRel);
        let asking = Asking(Arc::clone(&self.asking));
        let _depth = Depth::enter();
        for (pool, known) in self.known().iter_mut().filter(|(_, known)| !known.destroyed) {
            let Ok(reserved) = self.driver.pool_number(*pool, pool_attribute::RESERVED_CURRENT) else { continue };
            known.seen(reserved);
            known.reserved = reserved;
        }
        asking
    }

    /// Whether the driver may move what was freed to a held pool, for a request of this many bytes of `pool`, or of a pool that
    /// is not known. After [`Pools::allocating`].
    pub(crate) fn may_move(&self, bytes: u64, pool: Option<MemoryPool>) -> bool {
        let asked = |(one, known): (&MemoryPool, &Known)| {
            known.holds > 0 && pool.is_none_or(|pool| pool == *one) && known.mapped.may_move(bytes, known.reserved)
        };
        self.any_held() && self.known().iter().any(asked)
    }

    /// The program asks a pool for memory while the driver must not be asked about it.
    pub(crate) fn unseen(&self) {
        for known in self.known().values_mut() {
            known.mapped.forget_unused();
            known.doubt(|_| "the program allocated from a pool while it captured a stream".into());
        }
    }

    /// The program got memory from a pool.
    pub(crate) fn allocated(&self, range: Range) {
        let _depth = Depth::enter();
        let Some(pool) = self.driver.pool_of(range.base) else { return };
        let Ok(reserved) = self.driver.pool_number(pool, pool_attribute::RESERVED_CURRENT) else { return };
        let mut pools = self.known();
        let known = pools.entry(pool).or_default();
        known.seen(reserved);
        // What grew while several ask may be another's.
        let alone = self.asking.load(Ordering::Acquire) <= 1;
        let before = if alone { known.reserved } else { reserved };
        known.reserved = reserved;
        if let Err(why) = known.mapped.allocated(range, before, reserved) {
            known.doubt(|_| why);
        }
        // With this allocation in its place.
        known.seen(reserved);
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
            known.mapped.kept(pooled.range);
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
                Ok(reserved) => {
                    known.doubt(|known| format!("the pool shrank from {} bytes to {reserved}", known.reserved))
                }
                Err(_) => known.doubt(|_| NOT_TOLD.into()),
            }
        }
    }

    /// Looks whether everything that was freed to held pools is still mapped, as far as that can be told.
    ///
    /// # Errors
    /// Why it may not be.
    pub(crate) fn kept(&self) -> Result<(), String> {
        self.look();
        if !self.any_held() {
            return Ok(());
        }
        let pools = self.known();
        pools.values().find_map(|known| known.doubt.clone().filter(|_| known.holds > 0)).map_or(Ok(()), Err)
    }
}
