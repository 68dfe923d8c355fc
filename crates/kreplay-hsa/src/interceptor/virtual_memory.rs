//! Memory mapped through the virtual-memory interface (ROCm 6 and later).

use super::allocations::{Allocation, freeing};
use super::guard;
use super::state::{Backend, backend};
use crate::abi::{MemoryHandle, Pool, Status};
use kreplay_engine::{Range, RegionKind, Writers};
use std::ffi::c_void;

/// `hsa_amd_vmem_map`.
pub(super) unsafe extern "C" fn vmem_map(
    address: *mut c_void,
    bytes: usize,
    offset: usize,
    handle: MemoryHandle,
    flags: u64,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_map else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(address, bytes, offset, handle, flags) };
    if status.is_ok() && backend.is_on() {
        guard("hsa_amd_vmem_map", || mapped(backend, address as u64, bytes as u64, handle), || ());
    }
    status
}

fn mapped(backend: &Backend, base: u64, bytes: u64, handle: MemoryHandle) {
    let (mut pool, mut kind) = (Pool::default(), 0_u32);
    let known = backend.api.vmem_properties.is_some_and(|ask| {
        // SAFETY: both are places of the documented types.
        unsafe { ask(handle, &raw mut pool, &raw mut kind) }.is_ok()
    });
    let owner = backend
        .pool(pool.handle)
        .filter(|_| known)
        .and_then(|pool| backend.units().iter().position(|unit| unit.handle() == pool.owner));
    // Other devices may be given access at any time, and the same memory may be mapped twice: nobody's shadow is believed.
    let kind = if owner.is_some() { RegionKind::Mapped } else { RegionKind::Imported };
    backend.born(Allocation {
        range: Range::new(base, bytes),
        kind,
        owner,
        writers: Writers::Others,
        pool_bytes: 0,
        access: 0,
        host_address: false,
    });
}

/// `hsa_amd_vmem_unmap`.
pub(super) unsafe extern "C" fn vmem_unmap(address: *mut c_void, bytes: usize) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_unmap else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    freeing(backend, address, || unsafe { original(address, bytes) })
}

/// `hsa_amd_vmem_set_access`: a replay may not be allowed any more what a launch was.
pub(super) unsafe extern "C" fn vmem_set_access(
    address: *mut c_void,
    bytes: usize,
    access: *const c_void,
    count: usize,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_set_access else { return Status::ERROR };
    if backend.is_on() {
        guard("hsa_amd_vmem_set_access", || backend.attributes_change(address as u64), || ());
    }
    // SAFETY: the program's own arguments.
    unsafe { original(address, bytes, access, count) }
}
