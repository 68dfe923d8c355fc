//! What every exported function goes through.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use softgpu::device::{Device, say};

use crate::types::Status;

/// Runs a thunk function's body: a panic becomes [`Status::Error`].
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Success,
        Ok(Err(status)) => status,
        Err(_) => Status::Error,
    }
}

/// The device, or the status that says that there is none. Why is said once, on stderr.
///
/// A child that was forked from a process with a device has none: the threads of its queues are not in it, and waiting for them would
/// never end. As with the real thunk, such a child must not use the GPU.
pub(crate) fn device() -> Result<Arc<Device>, Status> {
    use std::sync::{Once, OnceLock};
    static SAID: Once = Once::new();
    static PROCESS: OnceLock<u32> = OnceLock::new();
    if *PROCESS.get_or_init(std::process::id) != std::process::id() {
        return Err(Status::KernelIoChannelNotOpened);
    }
    Device::global().map_err(|error| {
        SAID.call_once(|| say(&error));
        Status::KernelIoChannelNotOpened
    })
}

/// A reference to what a caller passed, or "invalid parameter" for null.
///
/// # Safety
/// A pointer that is not null must be valid for `T` while the result is used.
pub(crate) unsafe fn out<'a, T>(pointer: *mut T) -> Result<&'a mut T, Status> {
    // SAFETY: the caller says so.
    unsafe { pointer.as_mut() }.ok_or(Status::InvalidParameter)
}
