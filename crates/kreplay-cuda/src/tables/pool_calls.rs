//! What is asked of memory pools, and copies between addresses that are known to be a device's. All fail with a
//! [`CudaError`] that holds the driver's status.

use super::driver::Driver;
use super::driver_calls::absent;
use super::{CudaError, MemoryPool, Stream};
use std::ffi::c_void;

/// Attributes of a pool, both of 64 bits (`CUmemPool_attribute`).
pub(crate) mod pool_attribute {
    /// Bytes above which unused memory goes back to the system when something synchronises.
    pub(crate) const RELEASE_THRESHOLD: u32 = 4;
    /// Bytes of memory that back the pool now.
    pub(crate) const RESERVED_CURRENT: u32 = 5;
}

impl Driver {
    /// The pool that an allocation is of; `None` where it is of none, or that cannot be told.
    pub(crate) fn pool_of(&self, address: u64) -> Option<MemoryPool> {
        const MEMPOOL_HANDLE: u32 = 17;
        let mut pool = 0u64;
        let ask = self.table().cuPointerGetAttribute?;
        // SAFETY: the output is a local of the attribute's size; any address may be asked about.
        let status = unsafe { ask(&mut pool, MEMPOOL_HANDLE, address) };
        (status == 0 && pool != 0).then_some(MemoryPool(pool as *mut c_void))
    }

    /// An attribute of a pool.
    pub(crate) fn pool_number(&self, pool: MemoryPool, attribute: u32) -> Result<u64, CudaError> {
        let mut value = 0;
        let Some(get) = self.table().cuMemPoolGetAttribute else { return Err(absent("cuMemPoolGetAttribute")) };
        // SAFETY: the output is a local of the attribute's size; the driver checks the handle.
        let status = unsafe { get(pool, attribute, &mut value) };
        self.check("cuMemPoolGetAttribute", status).map(|()| value)
    }

    /// Sets an attribute of a pool.
    pub(crate) fn set_pool_number(&self, pool: MemoryPool, attribute: u32, value: u64) -> Result<(), CudaError> {
        let mut value = value;
        let Some(set) = self.table().cuMemPoolSetAttribute else { return Err(absent("cuMemPoolSetAttribute")) };
        // SAFETY: the driver reads a local of the attribute's size and checks the handle.
        let status = unsafe { set(pool, attribute, &mut value) };
        self.check("cuMemPoolSetAttribute", status)
    }

    /// A copy within the device. An address that the driver does not know as a device's is an error, never the host's.
    pub(crate) fn copy_within(&self, to: u64, from: u64, bytes: u64, stream: Stream) -> Result<(), CudaError> {
        let Some(copy) = self.table().cuMemcpyDtoDAsync_v2 else { return Err(absent("cuMemcpyDtoDAsync_v2")) };
        // SAFETY: the addresses were the program's own in such a copy; the driver checks them.
        let status = unsafe { copy(to, from, bytes as usize, stream) };
        self.check("cuMemcpyDtoDAsync_v2", status)
    }

    /// A copy of these bytes to the device. They must stay until the stream has come past it.
    pub(crate) fn copy_up(&self, to: u64, content: &[u8], stream: Stream) -> Result<(), CudaError> {
        let Some(copy) = self.table().cuMemcpyHtoDAsync_v2 else { return Err(absent("cuMemcpyHtoDAsync_v2")) };
        // SAFETY: the source is `content`; the destination was the program's own in such a copy, and the driver checks it.
        let status = unsafe { copy(to, content.as_ptr().cast::<c_void>(), content.len(), stream) };
        self.check("cuMemcpyHtoDAsync_v2", status)
    }
}
