//! Memory that is handed to other processes and interfaces: they may write it at any time from then on, and nobody here sees it. So
//! nothing of it is put back, and kernels that reach it decline.
//!
//! Memory of the virtual-memory interface is handed over by its handle: all that is mapped of it is others' then, and all that will
//! be, until the number is a new handle's.

use super::guard;
use super::live::Allocation;
use super::state::{Backend, backend};
use crate::abi::{MemoryHandle, Status};
use kreplay_engine::{ClosingReason, Range, Region, RegionKind, Writers};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

impl Backend {
    /// Others may write this range from now on, and whatever its allocations hold besides.
    fn exported(&self, range: Range) {
        let _change = self.allocations.changing();
        let known = self.allocations.overlapping(range);
        if known.is_empty() {
            return self.exported_unseen(range);
        }
        for allocation in known {
            match allocation.handle {
                Some(handle) => self.others_have(handle),
                None => self.give_away(&allocation),
            }
        }
    }

    /// Memory that no call has told of: what the runtime keeps code and its variables in. Kernels use variables without an argument,
    /// so from now on none of them can be replayed.
    fn exported_unseen(&self, range: Range) {
        let known = self.pointer(range.base).filter(|info| info.agent_base != 0 && info.bytes != 0);
        let range = known.map_or(range, |info| Range::new(info.agent_base, info.bytes as u64));
        self.variables_exported.store(true, Ordering::Release);
        for unit in self.units() {
            // What it holds may be in the window by other bases.
            self.end_recording(unit, ClosingReason::Unrecordable);
            unit.engine.region_changed(imported(range));
        }
        self.allocations.insert(Allocation {
            range,
            kind: RegionKind::Imported,
            owner: None,
            writers: Writers::Others,
            pool_bytes: 0,
            access: 0,
            host_address: false,
            handle: None,
        });
    }

    fn give_away(&self, allocation: &Allocation) {
        if self.allocations.give_away(allocation.range) {
            for unit in self.units() {
                unit.engine.region_changed(imported(allocation.range));
            }
        }
    }

    /// Others may write this handle's memory from now on. Called while the allocations are changing.
    fn others_have(&self, handle: u64) {
        self.allocations.shareable().insert(handle);
        for mapping in self.allocations.mappings(handle) {
            self.give_away(&mapping);
        }
    }

    /// The handle is new, and nobody else's.
    pub(super) fn is_own(&self, handle: MemoryHandle) {
        let _change = self.allocations.changing();
        self.allocations.shareable().remove(&handle.handle);
    }

    fn is_others(&self, handle: MemoryHandle) {
        let _change = self.allocations.changing();
        self.others_have(handle.handle);
    }

    /// After a call that hands memory over, before the program hears of it.
    fn handed_over(&self, place: &'static str, status: Status, address: *const c_void, bytes: usize) -> Status {
        if status.is_ok() && self.is_on() {
            let range = Range::new(address as u64, bytes.max(1) as u64);
            guard(place, || self.exported(range), || ());
        }
        status
    }
}

fn imported(range: Range) -> Region {
    Region { range, kind: RegionKind::Imported, writers: Writers::Others }
}

/// `hsa_amd_ipc_memory_create`.
pub(super) unsafe extern "C" fn ipc_create(address: *mut c_void, bytes: usize, handle: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.ipc_create)(address, bytes, handle) };
    backend.handed_over("hsa_amd_ipc_memory_create", status, address, bytes)
}

/// `hsa_amd_portable_export_dmabuf`.
pub(super) unsafe extern "C" fn export_dmabuf(
    address: *const c_void,
    bytes: usize,
    file: *mut c_int,
    offset: *mut u64,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.export_dmabuf else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(address, bytes, file, offset) };
    backend.handed_over("hsa_amd_portable_export_dmabuf", status, address, bytes)
}

/// `hsa_amd_portable_export_dmabuf_v2`.
pub(super) unsafe extern "C" fn export_dmabuf_v2(
    address: *const c_void,
    bytes: usize,
    file: *mut c_int,
    offset: *mut u64,
    flags: u64,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.export_dmabuf_v2 else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(address, bytes, file, offset, flags) };
    backend.handed_over("hsa_amd_portable_export_dmabuf_v2", status, address, bytes)
}

/// `hsa_amd_vmem_export_shareable_handle`.
pub(super) unsafe extern "C" fn vmem_export(file: *mut c_int, handle: MemoryHandle, flags: u64) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_export else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(file, handle, flags) };
    if status.is_ok() && backend.is_on() {
        guard("hsa_amd_vmem_export_shareable_handle", || backend.is_others(handle), || ());
    }
    status
}

/// `hsa_amd_vmem_import_shareable_handle`.
pub(super) unsafe extern "C" fn vmem_import(file: c_int, handle: *mut MemoryHandle) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.vmem_import else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { original(file, handle) };
    if status.is_ok() && backend.is_on() && !handle.is_null() {
        // SAFETY: the call that filled it succeeded.
        let handle = unsafe { *handle };
        guard("hsa_amd_vmem_import_shareable_handle", || backend.is_others(handle), || ());
    }
    status
}
