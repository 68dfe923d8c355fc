//! Memory mapped through the virtual-memory interface (ROCm 6 and later).
//!
//! Nobody can reach a mapping before access is given, and its owner may lose it again: it is captured only while its own GPU may read
//! and write it. Memory whose handle was exported or imported is others' wherever it is mapped.

use super::allocation_hooks::freeing;
use super::guard;
use super::live::Allocation;
use super::state::{Backend, backend};
use crate::abi::{ACCESS_NONE, ACCESS_RW, AccessDescription, MemoryHandle, Pool, Status};
use kreplay_engine::{Range, RegionKind, Writers};
use std::ffi::c_void;

/// `hsa_amd_vmem_handle_create`: a number that an earlier handle had is a new one's.
pub(super) unsafe extern "C" fn vmem_handle_create(
    pool: Pool,
    bytes: usize,
    kind: u32,
    flags: u64,
    handle: *mut MemoryHandle,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_handle_create else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(pool, bytes, kind, flags, handle) };
    if status.is_ok() && backend.is_on() && !handle.is_null() {
        // SAFETY: the call that filled it succeeded.
        let handle = unsafe { *handle };
        guard("hsa_amd_vmem_handle_create", || backend.is_own(handle), || ());
    }
    status
}

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
    let _change = backend.allocations.changing();
    let theirs = owner.is_none() || backend.allocations.shareable().contains(&handle.handle);
    // Other devices may be given access at any time, and the same memory may be mapped twice: nobody's shadow is believed.
    backend.born(Allocation {
        range: Range::new(base, bytes),
        kind: if theirs { RegionKind::Imported } else { RegionKind::Untracked },
        owner,
        writers: Writers::Others,
        pool_bytes: 0,
        access: 0,
        host_address: false,
        handle: Some(handle.handle),
    });
}

/// `hsa_amd_vmem_unmap`.
pub(super) unsafe extern "C" fn vmem_unmap(address: *mut c_void, bytes: usize) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_unmap else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    freeing(backend, address, || unsafe { original(address, bytes) })
}

/// `hsa_amd_vmem_set_access`: a replay may not be allowed any more what a launch was. It may name several mappings.
pub(super) unsafe extern "C" fn vmem_set_access(
    address: *mut c_void,
    bytes: usize,
    access: *const AccessDescription,
    count: usize,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_set_access else { return Status::ERROR };
    let range = Range::new(address as u64, bytes as u64);
    let before = || {
        backend.attributes_change(range);
        backend.withhold(range)
    };
    let withheld = if backend.is_on() { guard("hsa_amd_vmem_set_access", before, Vec::new) } else { Vec::new() };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(address, bytes, access, count) };
    if !withheld.is_empty() {
        let after = || {
            let given = if status.is_ok() && !access.is_null() {
                // SAFETY: the call that got the same list succeeded.
                unsafe { std::slice::from_raw_parts(access, count) }
            } else {
                &[]
            };
            backend.grant(withheld, given);
        };
        guard("hsa_amd_vmem_set_access", after, || ());
    }
    status
}

impl Backend {
    /// Takes a range's mappings out of the windows to come, and tells what they were.
    fn withhold(&self, range: Range) -> Vec<Allocation> {
        let owned = |allocation: &Allocation| {
            allocation.owner.is_some() && matches!(allocation.kind, RegionKind::Mapped | RegionKind::Untracked)
        };
        let mappings: Vec<Allocation> = self.allocations.overlapping(range).into_iter().filter(owned).collect();
        for mapping in &mappings {
            if mapping.kind == RegionKind::Mapped {
                self.becomes(mapping, RegionKind::Untracked);
            }
        }
        mappings
    }

    /// Access to mappings is now what these descriptions say, and else what it was.
    fn grant(&self, mappings: Vec<Allocation>, given: &[AccessDescription]) {
        for mapping in mappings {
            let own = |one: &&AccessDescription| {
                self.units().iter().position(|unit| unit.handle() == one.agent) == mapping.owner
            };
            let kind = match given.iter().rev().find(own) {
                Some(one) if one.permission == ACCESS_RW => RegionKind::Mapped,
                Some(_) => RegionKind::Untracked,
                None => mapping.kind.clone(),
            };
            if kind == RegionKind::Mapped {
                self.becomes(&mapping, kind);
            }
            self.shared(mapping.range.base, |index| {
                let handle = self.units().get(index).map(|unit| unit.handle());
                given.iter().any(|one| Some(one.agent) == handle && one.permission != ACCESS_NONE)
            });
        }
    }
}
