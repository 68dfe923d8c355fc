//! Functions for tests in the same process, found with `dlsym(RTLD_DEFAULT, …)`. All are thread-safe.
//!
//! ```c
//! struct softgpu_range { uint64_t address, bytes; };
//! struct softgpu_counts { uint64_t vram_allocations, host_allocations, registrations, vram_bytes,
//!                         events, queues, dispatches, completed, errors; };
//!
//! int  softgpu_version(void);                              // 1
//! int  softgpu_oracle_keep(int on);                        // keep write sets in memory
//! // Newest record of a kernel object (0: of any), which is then forgotten: 1 found, 0 none, -1 an array is too small
//! // (the record stays; the numbers say what is needed).
//! int  softgpu_oracle_take(uint64_t kernel_object, uint64_t *dispatch,
//!                          struct softgpu_range *stored, size_t *stored_count,
//!                          struct softgpu_range *changed, size_t *changed_count);
//! int  softgpu_fault_inject(const char *specification);    // softgpu::fault; 0, or -1 and one line on stderr
//! int  softgpu_fault_clear(void);
//! int  softgpu_foreign_write(uint64_t address, const void *bytes, size_t count);   // at once; 0, or -1: not mapped
//! int  softgpu_counts_get(struct softgpu_counts *counts);
//! ```

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use softgpu::device::{Device, say};
use softgpu::fault::FaultSpec;
use softgpu::memory::Range;
use softgpu::queue::dispatch::write_behind;

use crate::guard::device;

/// What is alive and what has happened.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Counts {
    /// Allocations of device memory.
    pub vram_allocations: u64,
    /// Allocations of host memory.
    pub host_allocations: u64,
    /// Registered ranges.
    pub registrations: u64,
    /// Bytes of device memory in use.
    pub vram_bytes: u64,
    /// Events.
    pub events: u64,
    /// Queues.
    pub queues: u64,
    /// Dispatches begun since the device was made.
    pub dispatches: u64,
    /// Dispatches completed since then.
    pub completed: u64,
    /// Errors raised since then.
    pub errors: u64,
}

/// Runs a body; −1 for a panic or where there is no device.
fn instrument(body: impl FnOnce(&Device) -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(|| device().map_or(-1, |device| body(&device)))).unwrap_or(-1)
}

/// Version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_version() -> c_int {
    1
}

/// Switches keeping of write sets on or off.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_oracle_keep(on: c_int) -> c_int {
    instrument(|device| {
        device.oracle.keep(on != 0);
        0
    })
}

/// Takes the newest write set of a kernel object.
///
/// # Safety
/// The counts must be valid and tell how many ranges their arrays hold; `dispatch` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_oracle_take(
    kernel_object: u64,
    dispatch: *mut u64,
    stored: *mut Range,
    stored_count: *mut usize,
    changed: *mut Range,
    changed_count: *mut usize,
) -> c_int {
    instrument(|device| {
        // SAFETY: the caller passes valid counts.
        let (Some(stored_count), Some(changed_count)) = (unsafe { (stored_count.as_mut(), changed_count.as_mut()) })
        else {
            return -1;
        };
        let Some(record) = device.oracle.take(kernel_object) else { return 0 };
        let room = (*stored_count, *changed_count);
        (*stored_count, *changed_count) = (record.writes.stored.len(), record.writes.changed.len());
        let fits = record.writes.stored.len() <= room.0 && record.writes.changed.len() <= room.1;
        if !fits || stored.is_null() || changed.is_null() {
            device.oracle.record_kept(record);
            return -1;
        }
        // SAFETY: the arrays hold what their counts say, which was just checked; `dispatch` is valid or null.
        unsafe {
            std::ptr::copy_nonoverlapping(record.writes.stored.as_ptr(), stored, record.writes.stored.len());
            std::ptr::copy_nonoverlapping(record.writes.changed.as_ptr(), changed, record.writes.changed.len());
            if let Some(dispatch) = dispatch.as_mut() {
                *dispatch = record.dispatch;
            }
        }
        1
    })
}

/// Puts faults in.
///
/// # Safety
/// `specification` must be a terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_fault_inject(specification: *const c_char) -> c_int {
    instrument(|device| {
        if specification.is_null() {
            return -1;
        }
        // SAFETY: the caller passes a terminated string.
        let text = unsafe { CStr::from_ptr(specification) }.to_string_lossy();
        match FaultSpec::parse_list(&text) {
            Ok(specs) => {
                device.faults.inject(specs);
                0
            }
            Err(error) => {
                say(&error);
                -1
            }
        }
    })
}

/// Takes all faults out.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_fault_clear() -> c_int {
    instrument(|device| {
        device.faults.clear();
        0
    })
}

/// Writes into the GPU's memory behind everybody's back.
///
/// # Safety
/// `bytes` must be valid for `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_foreign_write(address: u64, bytes: *const c_void, count: usize) -> c_int {
    instrument(|device| {
        if bytes.is_null() {
            return -1;
        }
        // SAFETY: the caller passes as many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count) };
        write_behind(device, address, bytes).map_or(-1, |()| 0)
    })
}

/// Tells what is alive.
///
/// # Safety
/// `counts` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_counts_get(counts: *mut Counts) -> c_int {
    instrument(|device| {
        // SAFETY: the caller passes a valid pointer or null.
        let Some(counts) = (unsafe { counts.as_mut() }) else { return -1 };
        let memory = device.memory.counts();
        *counts = Counts {
            vram_allocations: memory.vram,
            host_allocations: memory.host,
            registrations: memory.registered,
            vram_bytes: memory.vram_bytes,
            events: device.events.count(),
            queues: device.queues.count(),
            dispatches: device.totals.dispatches.load(Ordering::Relaxed),
            completed: device.totals.completed.load(Ordering::Relaxed),
            errors: device.totals.errors.load(Ordering::Relaxed),
        };
        0
    })
}
