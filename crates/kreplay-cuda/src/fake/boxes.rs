//! Copies and memsets of many rows, between addresses of the fake.

use super::driver::{functions, put};
use super::pools::is_free;
use crate::tables::graph_structs::{CopyNodeParams, memory_kind};
use std::ffi::c_void;

const INVALID_VALUE: i32 = 1;

/// The address of a function of these, or null.
pub(super) fn find(name: &str) -> *mut c_void {
    match name {
        "cuMemcpy3DAsync_v2" => cuMemcpy3DAsync_v2 as *mut c_void,
        "cuMemsetD2D8Async" => cuMemsetD2D8Async as *mut c_void,
        "cuMemsetD2D16Async" => cuMemsetD2D16Async as *mut c_void,
        "cuMemsetD2D32Async" => cuMemsetD2D32Async as *mut c_void,
        _ => std::ptr::null_mut(),
    }
}

fn set<T: Copy>(to: u64, pitch: usize, value: T, width: usize, height: usize) -> i32 {
    if is_free(to, true) || pitch < width * size_of::<T>() {
        return INVALID_VALUE;
    }
    for row in 0..height {
        (0..width).for_each(|at| put(((to as usize + row * pitch) as *mut T).wrapping_add(at), value));
    }
    0
}

functions! {
    fn cuMemcpy3DAsync_v2(copy: *const CopyNodeParams, _stream: u64) {
        // SAFETY: the agent passes its local description.
        let p = unsafe { copy.read() };
        let known = [p.from_kind, p.to_kind] == [memory_kind::DEVICE; 2];
        if !known || is_free(p.to_device, true) || is_free(p.from_device, true) || p.from_pitch.min(p.to_pitch) < p.width {
            return INVALID_VALUE;
        }
        for (plane, row) in (0..p.depth).flat_map(|plane| (0..p.height).map(move |row| (plane, row))) {
            let from = p.from_device as usize + (plane * p.from_height + row) * p.from_pitch;
            let to = p.to_device as usize + (plane * p.to_height + row) * p.to_pitch;
            // SAFETY: the agent copies between memory of this process.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, p.width) };
        }
        0
    }
    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, _stream: u64) {
        set(to, pitch, value, width, height)
    }
    fn cuMemsetD2D16Async(to: u64, pitch: usize, value: u16, width: usize, height: usize, _stream: u64) {
        set(to, pitch, value, width, height)
    }
    fn cuMemsetD2D32Async(to: u64, pitch: usize, value: u32, width: usize, height: usize, _stream: u64) {
        set(to, pitch, value, width, height)
    }
}
