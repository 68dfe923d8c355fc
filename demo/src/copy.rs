//! Copies by the GPU's copy engine.

use crate::error::Error;
use crate::gpu::{Gpu, Memory};
use crate::hsa::{self, check};
use std::ffi::c_void;
use std::time::{Duration, Instant};

impl Gpu {
    /// Writes host memory to the device as [`Gpu::upload`] does, but has the copy engine do it, and waits for it.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Stuck`] when it takes two minutes.
    ///
    /// # Panics
    /// When `to` is smaller than `from`.
    pub fn send<T: Copy>(&self, to: Memory, from: &[T]) -> Result<(), Error> {
        let bytes = size_of_val(from);
        assert!(bytes <= to.bytes, "the destination holds {} bytes", to.bytes);
        let staged = self.allocate_arguments(bytes.max(16))?;
        // SAFETY: the allocation above is at least this large, and host memory.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr().cast::<u8>(), staged.address() as *mut u8, bytes) };
        let mut completion = 0;
        // SAFETY: `completion` is writable; no consumer is named.
        check("hsa_signal_create", unsafe { (self.hsa.hsa_signal_create)(1, 0, std::ptr::null(), &mut completion) })?;
        let (target, source) = (to.address() as *mut c_void, staged.address() as *const c_void);
        // SAFETY: both sides are live allocations of at least this size; nothing is waited for before it.
        let status = unsafe {
            let copy = self.hsa.hsa_amd_memory_async_copy;
            copy(target, self.agent, source, self.host, bytes, 0, std::ptr::null(), completion)
        };
        check("hsa_amd_memory_async_copy", status)?;
        let end = Instant::now() + Duration::from_secs(120);
        let ticks = 1_000_000;
        // SAFETY: the signal lives until it is destroyed below.
        while unsafe {
            (self.hsa.hsa_signal_wait_scacquire)(completion, hsa::CONDITION_LT, 1, ticks, hsa::WAIT_BLOCKED)
        } >= 1
        {
            if Instant::now() > end {
                return Err(Error::Stuck("a copy"));
            }
        }
        // SAFETY: the copy is over, so nobody signals it any more.
        check("hsa_signal_destroy", unsafe { (self.hsa.hsa_signal_destroy)(completion) })?;
        self.free(staged);
        Ok(())
    }
}
