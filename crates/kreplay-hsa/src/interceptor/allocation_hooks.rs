//! The functions that allocate and free, in the runtime's tables.

use super::guard;
use super::held_frees::{self, Held};
use super::state::{Backend, backend};
use crate::abi::{Pool, Region as RegionHandle, Status};
use kreplay_engine::ClosingReason;
use std::ffi::c_void;

/// Frees what `free` frees; its region is retired before and put back when it fails.
pub(super) fn freeing(backend: &Backend, address: *mut c_void, free: impl FnOnce() -> Status) -> Status {
    let leaving = if backend.is_on() { guard("a free", || backend.leaving(address as u64), || None) } else { None };
    let status = free();
    if let Some(leaving) = leaving {
        guard("a free", || backend.left(leaving, status.is_ok()), || ());
    }
    status
}

/// `hsa_amd_memory_pool_allocate`.
pub(super) unsafe extern "C" fn pool_allocate(
    pool: Pool,
    bytes: usize,
    flags: u32,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let mut status = unsafe { (backend.api.pool_allocate)(pool, bytes, flags, address) };
    if backend.is_on() {
        if !status.is_ok() && guard("an allocation", || make_room(backend, pool), || false) {
            // SAFETY: as above.
            status = unsafe { (backend.api.pool_allocate)(pool, bytes, flags, address) };
        }
        if status.is_ok() {
            guard("an allocation", || backend.allocated(pool.handle, flags, address, bytes), || ());
        }
    }
    status
}

/// An allocation failed: gives back what the engine holds idle, and what the program has freed within an open window.
/// Whether that was anything.
fn make_room(backend: &Backend, pool: Pool) -> bool {
    let Some(pool) = backend.pool(pool.handle) else { return false };
    let Some(unit) = backend.unit(pool.owner) else { return false };
    let held = !backend.allocations.held().is_empty();
    if held {
        unit.engine.close_window_for(ClosingReason::Memory);
    }
    unit.engine.release_idle() != 0 || held
}

/// `hsa_amd_memory_pool_free`.
pub(super) unsafe extern "C" fn pool_free(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    if backend.is_on() {
        match guard("a free", || held_frees::hold_back(backend, address as u64), || Held::Not) {
            Held::Now => return Status::SUCCESS,
            Held::Before => return Status::INVALID_ALLOCATION,
            Held::Not => {}
        }
    }
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.pool_free)(address) })
}

/// `hsa_memory_allocate`. A region's handle is its pool's.
pub(super) unsafe extern "C" fn memory_allocate(
    region: RegionHandle,
    bytes: usize,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.memory_allocate)(region, bytes, address) };
    if status.is_ok() && backend.is_on() {
        guard("an allocation", || backend.allocated(region.handle, 0, address, bytes), || ());
    }
    status
}

/// `hsa_memory_free`.
pub(super) unsafe extern "C" fn memory_free(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.memory_free)(address) })
}
