//! Copies and memsets of many rows. All fail with a [`CudaError`] that holds the driver's status.

use super::driver::Driver;
use super::driver_calls::absent;
use super::graph_structs::CopyNodeParams;
use super::{CudaError, Stream};

impl Driver {
    /// A copy of a box between addresses of the device.
    pub(crate) fn copy_box(&self, copy: &CopyNodeParams, stream: Stream) -> Result<(), CudaError> {
        let Some(call) = self.table().cuMemcpy3DAsync_v2 else { return Err(absent("cuMemcpy3DAsync_v2")) };
        // SAFETY: the description is a local; the addresses were the program's own in such a copy, and the driver checks them.
        let status = unsafe { call(copy, stream) };
        self.check("cuMemcpy3DAsync_v2", status)
    }

    /// A memset of rows with a value of one, two or four bytes. `at`: the address, and bytes between the beginnings of two rows;
    /// `extent`: values of a row, and rows.
    pub(crate) fn set_rows(
        &self,
        (to, pitch): (u64, u64),
        value: u32,
        element: u8,
        (width, height): (u64, u64),
        stream: Stream,
    ) -> Result<(), CudaError> {
        let (pitch, width, height) = (pitch as usize, width as usize, height as usize);
        let table = self.table();
        // SAFETY: the address was the program's own in such a call, here and below; the driver checks it.
        let set = |set: unsafe extern "C" fn(u64, usize, u32, usize, usize, Stream) -> i32| unsafe {
            set(to, pitch, value, width, height, stream)
        };
        // SAFETY: as above.
        let bytes = |set: unsafe extern "C" fn(u64, usize, u8, usize, usize, Stream) -> i32| unsafe {
            set(to, pitch, value as u8, width, height, stream)
        };
        // SAFETY: as above.
        let shorts = |set: unsafe extern "C" fn(u64, usize, u16, usize, usize, Stream) -> i32| unsafe {
            set(to, pitch, value as u16, width, height, stream)
        };
        let (call, status) = match element {
            1 => ("cuMemsetD2D8Async", table.cuMemsetD2D8Async.map(bytes)),
            2 => ("cuMemsetD2D16Async", table.cuMemsetD2D16Async.map(shorts)),
            _ => ("cuMemsetD2D32Async", table.cuMemsetD2D32Async.map(set)),
        };
        self.check(call, status.ok_or_else(|| absent(call))?)
    }
}
