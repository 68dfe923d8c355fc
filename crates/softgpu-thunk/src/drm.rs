//! What newer ROCr asks the kernel's graphics driver for: the frequency of the GPU's clock.
//!
//! From ROCr 1.12 on, an agent needs a device handle of `libdrm_amdgpu`, on which ROCr calls `amdgpu_query_gpu_info`. There is no such
//! driver here, so the handle is our own, and that one function is answered here for it: the thunk is the first library that ROCr names,
//! so its symbol comes before libdrm's. For any other handle the call goes on to libdrm.

use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;

use softgpu::topology::GPU_NODE;

use crate::guard::{guard, out};
use crate::types::Status;

/// Offset of `gpu_counter_freq` (kHz) in `struct amdgpu_gpu_info`, and the bytes of its first version up to and with it.
const COUNTER_FREQUENCY: usize = 72;
/// The GPU's clock counts nanoseconds.
const FREQUENCY_KHZ: u32 = 1_000_000;
/// `ENOSYS`, as libdrm returns errors.
const NO_SUCH_FUNCTION: c_int = -38;

static HANDLE: u8 = 0;

fn own_handle() -> *mut c_void {
    (&raw const HANDLE).cast_mut().cast()
}

/// The handle of the GPU for libdrm.
///
/// # Safety
/// `handle` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetAMDGPUDeviceHandle(node: u32, handle: *mut *mut c_void) -> Status {
    guard(|| {
        if node != GPU_NODE {
            return Err(Status::InvalidNodeUnit);
        }
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(handle) }? = own_handle();
        Ok(())
    })
}

/// What libdrm tells of a GPU; of ours, only the frequency of its clock, the one field that ROCr reads.
///
/// # Safety
/// `info` must be a `struct amdgpu_gpu_info` that the caller has initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amdgpu_query_gpu_info(device: *mut c_void, info: *mut c_void) -> c_int {
    type Query = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
    let body = || {
        if device == own_handle() && !info.is_null() {
            // SAFETY: the field lies inside the structure, aligned to 4 bytes as the structure is.
            unsafe { info.byte_add(COUNTER_FREQUENCY).cast::<u32>().write(FREQUENCY_KHZ) };
            return 0;
        }
        // SAFETY: a lookup by name in the objects after this one.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"amdgpu_query_gpu_info".as_ptr()) };
        if next.is_null() {
            return NO_SUCH_FUNCTION;
        }
        // SAFETY: libdrm's function of this name has this signature.
        let query = unsafe { std::mem::transmute::<*mut c_void, Query>(next) };
        // SAFETY: the caller's own arguments.
        unsafe { query(device, info) }
    };
    catch_unwind(body).unwrap_or(NO_SUCH_FUNCTION)
}

include!(concat!(env!("OUT_DIR"), "/drm_versions.rs"));
