//! Device memory shared between processes.

use std::ffi::c_void;

use softgpu::device::say;
use softgpu::memory::SharedHandle;

use crate::guard::{device, guard, out};
use crate::types::Status;

/// Makes a handle for another process. Only whole allocations can be shared, so the size says nothing new.
///
/// # Safety
/// `handle` must be valid or null, as for every function of the thunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtShareMemory(address: *mut c_void, _bytes: u64, handle: *mut [u32; 8]) -> Status {
    guard(|| {
        let shared = device()?.memory.share(address as u64).map_err(|error| {
            say(&error);
            Status::InvalidParameter
        })?;
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(handle) }? = shared.words();
        Ok(())
    })
}

/// Maps another process's memory; deregistering it lets it go.
///
/// # Safety
/// The pointers must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtRegisterSharedHandle(
    handle: *mut [u32; 8],
    address: *mut *mut c_void,
    bytes: *mut u64,
) -> Status {
    guard(|| {
        // SAFETY: the caller passes valid pointers or null.
        let (handle, address) = unsafe { (out(handle)?, out(address)?) };
        let handle = SharedHandle::from_words(*handle).ok_or(Status::InvalidHandle)?;
        let (base, size) = device()?.memory.import(&handle).map_err(|error| {
            say(&error);
            Status::InvalidHandle
        })?;
        *address = base as *mut c_void;
        // SAFETY: the caller passes a valid pointer or null.
        if let Some(bytes) = unsafe { bytes.as_mut() } {
            *bytes = size;
        }
        Ok(())
    })
}

/// Maps another process's memory for nodes; there is only one that it can be for.
///
/// # Safety
/// The pointers must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtRegisterSharedHandleToNodes(
    handle: *mut [u32; 8],
    address: *mut *mut c_void,
    bytes: *mut u64,
    _count: u64,
    _nodes: *mut u32,
) -> Status {
    // SAFETY: as this function's.
    unsafe { hsaKmtRegisterSharedHandle(handle, address, bytes) }
}

include!(concat!(env!("OUT_DIR"), "/share_versions.rs"));
