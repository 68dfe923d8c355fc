//! Memory that the runtime's pools do not own: locked host memory, memory of other processes and interfaces, managed ranges.

use super::allocation_hooks::freeing;
use super::guard;
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, Pool, Status};
use kreplay_engine::{Range, RegionKind};
use std::ffi::{c_int, c_void};

/// `hsa_amd_memory_lock`.
pub(super) unsafe extern "C" fn memory_lock(
    host: *mut c_void,
    bytes: usize,
    agents: *mut AgentHandle,
    count: c_int,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.memory_lock)(host, bytes, agents, count, address) };
    // SAFETY: the call that got the same list succeeded, or it is not looked at.
    unsafe { locked(backend, status, bytes, agents, count, address) };
    status
}

/// `hsa_amd_memory_lock_to_pool`.
pub(super) unsafe extern "C" fn lock_to_pool(
    host: *mut c_void,
    bytes: usize,
    agents: *mut AgentHandle,
    count: c_int,
    pool: Pool,
    flags: u32,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.lock_to_pool)(host, bytes, agents, count, pool, flags, address) };
    // SAFETY: the call that got the same list succeeded, or it is not looked at.
    unsafe { locked(backend, status, bytes, agents, count, address) };
    status
}

/// # Safety
/// When `status` is a success, `agents` has `count` agents (0: all) and `address` was filled.
unsafe fn locked(
    backend: &Backend,
    status: Status,
    bytes: usize,
    agents: *const AgentHandle,
    count: c_int,
    address: *mut *mut c_void,
) {
    if !status.is_ok() || !backend.is_on() || address.is_null() {
        return;
    }
    let ours = || {
        let access = if count <= 0 || agents.is_null() {
            u64::MAX
        } else {
            // SAFETY: the caller's.
            backend.bits(unsafe { std::slice::from_raw_parts(agents, count as usize) })
        };
        // SAFETY: the caller's.
        let base = unsafe { *address } as u64;
        backend.foreign(base, bytes as u64, RegionKind::Host { copyable: false }, access);
    };
    guard("a lock", ours, || ());
}

/// `hsa_amd_memory_unlock`.
pub(super) unsafe extern "C" fn memory_unlock(host: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // The agents' address of locked memory may be another one than the host's.
    let base = guard("an unlock", || backend.locked_at(host as u64), || host as u64);
    // SAFETY: the program's own argument.
    freeing(backend, base as *mut c_void, || unsafe { (backend.api.memory_unlock)(host) })
}

impl Backend {
    fn locked_at(&self, host: u64) -> u64 {
        let known = self.pointer(host).filter(|info| info.host_base == host && info.agent_base != 0);
        known.map_or(host, |info| info.agent_base)
    }
}

/// `hsa_amd_ipc_memory_attach`.
pub(super) unsafe extern "C" fn ipc_attach(
    handle: *const c_void,
    bytes: usize,
    count: u32,
    agents: *const AgentHandle,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.ipc_attach)(handle, bytes, count, agents, address) };
    if status.is_ok() && backend.is_on() && !address.is_null() {
        // SAFETY: the call that filled it succeeded.
        let base = unsafe { *address } as u64;
        guard("hsa_amd_ipc_memory_attach", || backend.foreign(base, bytes as u64, RegionKind::Imported, 0), || ());
    }
    status
}

/// `hsa_amd_ipc_memory_detach`.
pub(super) unsafe extern "C" fn ipc_detach(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.ipc_detach)(address) })
}

/// `hsa_amd_interop_map_buffer`.
#[allow(clippy::too_many_arguments)] // The runtime's signature.
pub(super) unsafe extern "C" fn interop_map(
    count: u32,
    agents: *mut AgentHandle,
    handle: c_int,
    flags: u32,
    bytes: *mut usize,
    address: *mut *mut c_void,
    metadata_bytes: *mut usize,
    metadata: *mut *const c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status =
        unsafe { (backend.api.interop_map)(count, agents, handle, flags, bytes, address, metadata_bytes, metadata) };
    if status.is_ok() && backend.is_on() && !address.is_null() && !bytes.is_null() {
        // SAFETY: the call that filled both succeeded.
        let (base, bytes) = unsafe { (*address as u64, *bytes as u64) };
        guard("hsa_amd_interop_map_buffer", || backend.foreign(base, bytes, RegionKind::Imported, 0), || ());
    }
    status
}

/// `hsa_amd_interop_unmap_buffer`.
pub(super) unsafe extern "C" fn interop_unmap(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.interop_unmap)(address) })
}

/// `hsa_amd_svm_attributes_set`: the range is managed memory.
pub(super) unsafe extern "C" fn svm_set(
    address: *mut c_void,
    bytes: usize,
    attributes: *mut c_void,
    count: usize,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.svm_set else { return Status::ERROR };
    let range = Range::new(address as u64, bytes as u64);
    if backend.is_on() {
        // Attributes say who may use it.
        guard("hsa_amd_svm_attributes_set", || backend.attributes_change(range), || ());
    }
    // SAFETY: the program's own arguments.
    let status = unsafe { original(address, bytes, attributes, count) };
    if status.is_ok() && backend.is_on() {
        let kind = RegionKind::Managed { copyable: false };
        guard("hsa_amd_svm_attributes_set", || backend.foreign(address as u64, bytes as u64, kind, 0), || ());
    }
    status
}
