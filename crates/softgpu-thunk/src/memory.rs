//! Allocating, registering, mapping.

use std::ffi::c_void;

use softgpu::device::{Device, say};
use softgpu::memory::{MemoryError, MemoryKind};
use softgpu::topology::{CPU_NODE, GPU_NODE};

use crate::guard::{device, guard, out};
use crate::types::{
    MEMORY_FIXED_ADDRESS, MEMORY_GDS, MEMORY_READ_ONLY, MEMORY_SCRATCH, POINTER_ALLOCATED, POINTER_REGISTERED,
    POINTER_SHARED, POINTER_UNKNOWN, PointerInfo, Status,
};

fn status(error: &MemoryError) -> Status {
    match error {
        MemoryError::OutOfDeviceMemory { .. } | MemoryError::OutOfHostMemory { .. } => Status::NoMemory,
        MemoryError::Unknown(_) => Status::MemoryNotRegistered,
        MemoryError::BadRange { .. } => Status::InvalidParameter,
        MemoryError::CannotShare { .. } | MemoryError::NotShared { .. } => {
            say(error);
            Status::Error
        }
    }
}

/// Allocates memory on a node; it is not mapped for the GPU yet.
///
/// # Safety
/// `address` must be valid or null, as for every function of the thunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtAllocMemory(node: u32, bytes: u64, flags: u32, address: *mut *mut c_void) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        let address = unsafe { out(address) }?;
        if flags & (MEMORY_GDS | MEMORY_FIXED_ADDRESS) != 0 {
            return Err(Status::NotSupported);
        }
        let device = device()?;
        let kind = match node {
            _ if flags & MEMORY_SCRATCH != 0 => MemoryKind::Scratch,
            CPU_NODE => MemoryKind::Host,
            GPU_NODE => MemoryKind::Vram,
            _ => return Err(Status::InvalidNodeUnit),
        };
        *address = allocate(&device, kind, bytes, flags)? as *mut c_void;
        Ok(())
    })
}

fn allocate(device: &Device, kind: MemoryKind, bytes: u64, flags: u32) -> Result<u64, Status> {
    if device.faults.allocation(kind) {
        return Err(Status::NoMemory);
    }
    device.memory.allocate(kind, bytes, flags, flags & MEMORY_READ_ONLY == 0).map_err(|e| status(&e))
}

/// Frees memory.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtFreeMemory(address: *mut c_void, _bytes: u64) -> Status {
    guard(|| device()?.memory.free(address as u64).map_err(|e| status(&e)))
}

/// Tells how much device memory is free.
///
/// # Safety
/// `bytes` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtAvailableMemory(node: u32, bytes: *mut u64) -> Status {
    guard(|| {
        if node != GPU_NODE {
            return Err(Status::InvalidNodeUnit);
        }
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(bytes) }? = device()?.memory.available();
        Ok(())
    })
}

fn register(address: *mut c_void, bytes: u64, flags: u32) -> Result<(), Status> {
    device()?.memory.register(address as u64, bytes, flags).map_err(|e| status(&e))
}

/// Registers memory of the program.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtRegisterMemory(address: *mut c_void, bytes: u64) -> Status {
    guard(|| register(address, bytes, 0))
}

/// Registers memory of the program with flags.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtRegisterMemoryWithFlags(address: *mut c_void, bytes: u64, flags: u32) -> Status {
    guard(|| register(address, bytes, flags))
}

/// Registers memory of the program for nodes; there is only one that it can be for.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtRegisterMemoryToNodes(
    address: *mut c_void,
    bytes: u64,
    _count: u64,
    _nodes: *mut u32,
) -> Status {
    guard(|| register(address, bytes, 0))
}

/// Takes a registration back.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtDeregisterMemory(address: *mut c_void) -> Status {
    guard(|| device()?.memory.deregister(address as u64).map_err(|e| status(&e)))
}

/// Lets the GPU touch memory.
///
/// # Safety
/// `alternate` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtMapMemoryToGPU(address: *mut c_void, _bytes: u64, alternate: *mut u64) -> Status {
    // SAFETY: as this function's.
    guard(|| unsafe { map(address, alternate) })
}

/// Lets the GPUs of a list touch memory.
///
/// # Safety
/// `alternate` must be valid or null, `nodes` valid for `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtMapMemoryToGPUNodes(
    address: *mut c_void,
    _bytes: u64,
    alternate: *mut u64,
    _flags: u32,
    count: u64,
    nodes: *const u32,
) -> Status {
    guard(|| {
        if count > 0 && nodes.is_null() {
            return Err(Status::InvalidParameter);
        }
        // SAFETY: the caller's list holds `count` numbers.
        let mut listed = (0..count as usize).map(|i| unsafe { nodes.add(i).read() });
        if listed.any(|node| node != GPU_NODE) {
            return Err(Status::InvalidNodeUnit);
        }
        // SAFETY: as this function's.
        unsafe { map(address, alternate) }
    })
}

unsafe fn map(address: *mut c_void, alternate: *mut u64) -> Result<(), Status> {
    device()?.memory.map(address as u64).map_err(|e| status(&e))?;
    // SAFETY: the caller passes a valid pointer or null.
    if let Some(alternate) = unsafe { alternate.as_mut() } {
        *alternate = address as u64;
    }
    Ok(())
}

/// Takes the GPU's access away.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtUnmapMemoryToGPU(address: *mut c_void) -> Status {
    guard(|| match device()?.memory.unmap(address as u64) {
        // The real thunk lets it pass, and ROCr relies on it for ranges that were deregistered.
        Ok(()) | Err(MemoryError::Unknown(_)) => Ok(()),
        Err(error) => Err(status(&error)),
    })
}

static GPU_LIST: [u32; 1] = [GPU_NODE];

/// Tells what holds an address.
///
/// # Safety
/// `info` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtQueryPointerInfo(pointer: *const c_void, info: *mut PointerInfo) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        let info = unsafe { out(info) }?;
        // SAFETY: plain numbers and pointers, for which all zeroes are values.
        *info = unsafe { std::mem::zeroed() };
        info.kind = POINTER_UNKNOWN;
        let Some(known) = device()?.memory.pointer(pointer as u64) else { return Err(Status::InvalidParameter) };
        info.kind = match known.kind {
            MemoryKind::Registered => POINTER_REGISTERED,
            MemoryKind::Imported => POINTER_SHARED,
            MemoryKind::Vram | MemoryKind::Host | MemoryKind::Scratch => POINTER_ALLOCATED,
        };
        info.node = known.node;
        info.flags = known.flags;
        (info.cpu_address, info.gpu_address, info.bytes) = (known.base, known.base, known.bytes);
        if known.mapped {
            (info.mapped_nodes, info.mapped) = (1, GPU_LIST.as_ptr());
        }
        info.user_data = known.user_data as *mut c_void;
        Ok(())
    })
}

/// Hangs a word of the runtime on an allocation.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtSetMemoryUserData(pointer: *const c_void, user_data: *mut c_void) -> Status {
    guard(|| device()?.memory.set_user_data(pointer as u64, user_data as usize).map_err(|e| status(&e)))
}

include!(concat!(env!("OUT_DIR"), "/memory_versions.rs"));
