//! Counters as a stream of samples, for a profiler in the same process. Found with `dlsym(RTLD_DEFAULT, …)`; all are
//! thread-safe. `docs/softgpu.md` describes them; [`mod@softgpu::sampling`] says what a sample is.
//!
//! ```c
//! struct softgpu_sampling_event { uint32_t block, event; };       // numbers of the AQL profile interface
//!
//! int      softgpu_sampling_version(void);                        // 1
//! uint64_t softgpu_sampling_clock(void);                          // device clock, ns
//! // The programming's number; -1 bad call or no device, -2 unknown event, -3 more events of a block than slots,
//! // -4 sampling is on.
//! int64_t  softgpu_sampling_configure(const struct softgpu_sampling_event *events, size_t count,
//!                                     uint64_t interval_ns, size_t capacity);
//! int      softgpu_sampling_start(void);                          // 0; -1 nothing is programmed, or it is on
//! int      softgpu_sampling_stop(void);                           // 0; -1 it was off
//! // Samples stored, each of 4 + count words: start, end, number of the programming, busy ns, a value an event. `lost`: how
//! // many the full buffer has lost since the last call. -1 bad call.
//! int64_t  softgpu_sampling_read(uint64_t *words, size_t room, uint64_t *lost);
//! ```

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use softgpu::device::Device;
use softgpu::sampling::ConfigureError;

use crate::guard::device;

/// Words of a sample before its values.
const HEAD: usize = 4;

/// An event of a group.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SamplingEvent {
    /// Its block's number.
    pub block: u32,
    /// Its own in the block.
    pub event: u32,
}

fn guarded<T>(otherwise: T, body: impl FnOnce(&Device) -> T) -> T {
    let run = || device().map(|device| body(&device));
    catch_unwind(AssertUnwindSafe(run)).ok().and_then(Result::ok).unwrap_or(otherwise)
}

/// Version of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_sampling_version() -> c_int {
    1
}

/// The device's clock, in nanoseconds: that of dispatch timestamps.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_sampling_clock() -> u64 {
    softgpu::device::now_ns()
}

/// Programs a group of events.
///
/// # Safety
/// `events` must be valid for `count` events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_sampling_configure(
    events: *const SamplingEvent,
    count: usize,
    interval_ns: u64,
    capacity: usize,
) -> i64 {
    guarded(-1, |device| {
        if events.is_null() && count != 0 {
            return -1;
        }
        // SAFETY: the caller passes as many events.
        let events = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(events, count) } };
        let events: Vec<(u32, u32)> = events.iter().map(|event| (event.block, event.event)).collect();
        match device.sampler.configure(&events, interval_ns, capacity, &device.faults) {
            Ok(number) => number.cast_signed(),
            Err(ConfigureError::Unknown { .. }) => -2,
            Err(ConfigureError::Slots { .. }) => -3,
            Err(ConfigureError::Running) => -4,
            Err(ConfigureError::Size) => -1,
        }
    })
}

/// Begins the stream.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_sampling_start() -> c_int {
    guarded(-1, |device| if device.sampler.start() { 0 } else { -1 })
}

/// Ends the stream; what was not read yet can still be.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_sampling_stop() -> c_int {
    guarded(-1, |device| if device.sampler.stop(&device.faults) { 0 } else { -1 })
}

/// Takes samples, the oldest first.
///
/// # Safety
/// `words` must be valid for `room` words; `lost` must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_sampling_read(words: *mut u64, room: usize, lost: *mut u64) -> i64 {
    guarded(-1, |device| {
        if words.is_null() && room != 0 {
            return -1;
        }
        let width = HEAD + device.sampler.width();
        let (samples, overflow) = device.sampler.read(room / width, &device.faults);
        for (at, sample) in samples.iter().enumerate() {
            let head = [sample.start, sample.end, sample.configuration, sample.busy];
            for (word, value) in head.iter().chain(&sample.values).enumerate() {
                // SAFETY: `read` gave at most `room / width` samples of `width` words.
                unsafe { words.add(at * width + word).write(*value) };
            }
        }
        // SAFETY: the caller passes a valid pointer or null.
        if let Some(lost) = unsafe { lost.as_mut() } {
            *lost = overflow;
        }
        samples.len() as i64
    })
}
