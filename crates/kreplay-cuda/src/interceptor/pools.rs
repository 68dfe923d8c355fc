//! Memory of pools: frees that a batch window outlives, and calls that would take freed memory away.

use super::context::{ContextState, Gone};
use super::ids::{Allocation, Class};
use super::peers::Beside;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::agent::CudaAgent;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{
    FreeParams, MemAllocAsyncParams, MemAllocFromPoolParams, PoolAttributeParams, PoolParams,
};
use crate::tables::{MemoryPool, pool_attribute};
use kreplay_engine::{ClosingReason, Operation, Range, RunGuard};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Interceptor {
    /// *Enter* of a stream-ordered free: the memory goes back to its pool and stays mapped, so an open batch window goes on.
    pub(super) fn free_to_pool_enter(&self, data: &CallbackData) {
        // SAFETY: both functions of this class have the address first.
        let base = unsafe { data.parameters.cast::<FreeParams>().read() }.pointer;
        let owner = locked(&self.live).owner(base);
        let shared = self.pools_shared.load(Ordering::Relaxed);
        self.retire(data, &[base], &|state, base| match owner {
            // Other contexts know of it, and cannot use it.
            Some(owner) if owner != state.context && !shared => state.region_retire_unreached(base),
            _ => self.linger(state, base).or_else(|| state.region_retire(base)),
        });
    }

    /// *Enter* of `cuMemPoolSetAccess`.
    pub(super) fn pool_shared(&self) {
        self.pools_shared.store(true, Ordering::Relaxed);
        self.end_recordings(ClosingReason::Unrecordable);
    }

    /// Keeps what a batch window of this context may need, if one records.
    fn linger(&self, state: &Arc<ContextState>, base: u64) -> Option<Gone> {
        let driven = state.driven().filter(|driven| driven.engine.is_recording())?;
        if self.capturing() {
            return None;
        }
        let pool = self.pools.hold(base)?;
        let pools = Arc::clone(&self.pools);
        match driven.engine.region_lingers(base, Box::new(move || pools.release(pool))) {
            Ok(retired) => Some(Gone::Known(retired)),
            Err(over) => {
                over();
                None
            }
        }
    }

    /// *Enter* of `cuMemPoolTrimTo` and `cuMemPoolDestroy`.
    pub(super) fn shrink_pool_enter(&self, class: Class, data: &CallbackData) {
        // SAFETY: both functions of this class have the pool first.
        let pool = unsafe { data.parameters.cast::<PoolParams>().read() }.pool;
        if self.pools.is_held(pool) {
            self.close_windows(ClosingReason::Freed);
        }
        if class == Class::DestroyPool {
            self.pools.destroyed(pool);
            self.pool_places.destroyed(pool);
        }
        self.keep_windows_out(data);
    }

    /// *Enter* of a call for an attribute: the threshold has to be the program's own.
    pub(super) fn pool_attribute_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<PoolAttributeParams>().read() };
        if p.attribute == pool_attribute::RELEASE_THRESHOLD && self.pools.is_held(p.pool) {
            self.close_windows(ClosingReason::Freed);
            self.keep_windows_out(data);
        }
    }

    /// *Exit* of a trim, and of a call for an attribute. A pool that is held all the same belongs to a window that could not be
    /// closed in time.
    pub(super) fn pool_changed(&self, class: Class, data: &CallbackData) {
        // SAFETY: every function of these classes has the pool first.
        let pool = unsafe { data.parameters.cast::<PoolParams>().read() }.pool;
        // SAFETY: CUPTI hands the parameters of the function that the class belongs to.
        let attribute = || unsafe { data.parameters.cast::<PoolAttributeParams>().read() }.attribute;
        if class == Class::TrimPool || attribute() == pool_attribute::RELEASE_THRESHOLD {
            self.pools.changed(pool);
        }
    }

    /// *Enter* of an allocation: no batch window is replayed meanwhile that may use memory of pools, since the driver may take
    /// that away to find room, or give it to the program. One that is being replayed is waited for.
    pub(super) fn pools_before(&self, data: &CallbackData, allocation: Allocation) {
        let of_pool = matches!(allocation, Allocation::Pool | Allocation::FromPool);
        if !(of_pool || self.pools.any_held()) {
            return;
        }
        let mut asking = None;
        if of_pool && self.capturing() {
            self.pools.unseen();
        } else if of_pool {
            asking = Some(self.pools.allocating());
            // SAFETY: CUPTI hands the parameters of one of these functions; both begin alike.
            let bytes = unsafe { data.parameters.cast::<MemAllocAsyncParams>().read() }.bytes as u64;
            let pool = (allocation == Allocation::FromPool).then(|| {
                // SAFETY: as above, of the function that names a pool.
                MemoryPool(unsafe { data.parameters.cast::<MemAllocFromPoolParams>().read() }.pool)
            });
            if self.pools.may_move(bytes, pool) {
                self.close_windows(ClosingReason::Memory);
            }
        }
        push(data.correlation_id, Pending::Allocation { guards: self.guards(), _asking: asking });
    }

    /// No window is replayed from here to the *exit* of this call; one that is being replayed is waited for.
    fn keep_windows_out(&self, data: &CallbackData) {
        let guards = self.guards();
        if !guards.is_empty() {
            push(data.correlation_id, Pending::beside(Beside { guards, ..Beside::default() }));
        }
    }

    /// What keeps windows out of every context.
    fn guards(&self) -> Vec<RunGuard<CudaAgent>> {
        let states = self.all_contexts();
        let driven = states.iter().filter_map(|state| state.driven());
        driven.map(|driven| driven.engine.memory_operation(Operation::Elsewhere)).collect()
    }

    /// *Exit* of an allocation.
    pub(super) fn pools_after(&self, data: &CallbackData, allocation: Allocation, succeeded: bool) {
        if succeeded && matches!(allocation, Allocation::Pool | Allocation::FromPool) && !self.capturing() {
            // SAFETY: CUPTI hands the parameters of one of these functions; both begin alike.
            let p = unsafe { data.parameters.cast::<MemAllocAsyncParams>().read() };
            // SAFETY: the driver has just written its result there.
            let base = if p.pointer.is_null() { 0 } else { unsafe { p.pointer.read() } };
            if base != 0 && p.bytes > 0 {
                self.pools.allocated(Range::new(base, p.bytes as u64));
            }
        }
        self.pools.look();
    }
}
