//! A CUPTI made of functions of ours: a GPU that may be asked what can be counted, and a clock. Nothing can be programmed.

use super::driver::{functions, put};
use crate::tables::cupti_sampling::SamplingAvailability;
use crate::tables::cupti_structs::{CounterAvailability, DeviceGetChipName, SubscriberParams};
use crate::tables::{Callback, Cupti, CuptiTable};
use std::ffi::{CStr, c_char, c_void};

const NOT_SUPPORTED: i32 = 27;
const MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: i32 = 39;

/// CUPTI of the fake.
pub(crate) fn fake_cupti() -> Cupti {
    let table = CuptiTable::load(&cupti_function).expect("the fake has every required function");
    Cupti::with_table(table)
}

/// The address of a function of the fake, or null.
pub(crate) fn cupti_function(name: &CStr) -> *mut c_void {
    macro_rules! table {
        ($($function:ident),* $(,)?) => {
            match name.to_str().unwrap_or_default() {
                $(stringify!($function) => $function as *mut c_void,)*
                // What takes one structure and does nothing with it.
                other if other.starts_with("cuptiProfiler") || other.starts_with("cuptiRangeProfiler") => {
                    cuptiUnsupported as *mut c_void
                }
                other if other.starts_with("cuptiPmSampling") => cuptiUnsupported as *mut c_void,
                _ => std::ptr::null_mut(),
            }
        };
    }
    table!(
        cuptiGetVersion,
        cuptiSubscribe,
        cuptiSubscribe_v2,
        cuptiEnableCallback,
        cuptiProfilerInitialize,
        cuptiProfilerDeviceSupported,
        cuptiDeviceGetChipName,
        cuptiProfilerGetCounterAvailability,
        cuptiGetTimestamp,
        cuptiPmSamplingGetCounterAvailability,
    )
}

/// Image and size of what may be counted.
fn availability(bytes: &mut usize, image: *mut u8) {
    const BYTES: usize = 8;
    if image.is_null() {
        *bytes = BYTES;
    } else {
        put(image.cast::<[u8; BYTES]>(), [1; BYTES]);
    }
}

functions! {
    fn cuptiUnsupported(_params: *mut c_void) { NOT_SUPPORTED }
    fn cuptiGetVersion(version: *mut u32) { put(version, 130_000); 0 }
    fn cuptiSubscribe(subscriber: *mut *mut c_void, _callback: Callback, _user: *mut c_void) {
        put(subscriber, std::ptr::without_provenance_mut(1));
        0
    }
    // Another tool was first.
    fn cuptiSubscribe_v2(
        _subscriber: *mut *mut c_void, _callback: Callback, _user: *mut c_void, params: *mut SubscriberParams
    ) {
        let holder = c"another profiler".to_bytes_with_nul();
        // SAFETY: the caller's structure, whose buffer is of the size that it states.
        unsafe {
            assert!((*params).old_bytes >= holder.len());
            std::ptr::copy_nonoverlapping(holder.as_ptr().cast::<c_char>(), (*params).old_name, holder.len());
        }
        MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
    }
    fn cuptiEnableCallback(_enable: u32, _subscriber: *mut c_void, _domain: u32, _id: u32) { 0 }
    fn cuptiProfilerInitialize(_params: *mut c_void) { 0 }
    fn cuptiProfilerDeviceSupported(_params: *mut c_void) { 0 }
    fn cuptiDeviceGetChipName(params: *mut DeviceGetChipName) {
        // SAFETY: the caller's structure.
        unsafe { (*params).chip = c"GH100".as_ptr() };
        0
    }
    fn cuptiProfilerGetCounterAvailability(params: *mut CounterAvailability) {
        // SAFETY: the caller's structure.
        let params = unsafe { &mut *params };
        availability(&mut params.image_bytes, params.image);
        0
    }
    fn cuptiPmSamplingGetCounterAvailability(params: *mut SamplingAvailability) {
        // SAFETY: the caller's structure.
        let params = unsafe { &mut *params };
        availability(&mut params.image_bytes, params.image);
        0
    }
    fn cuptiGetTimestamp(time: *mut u64) { put(time, super::samples_time()); 0 }
}

/// A callback that is never called.
pub(crate) unsafe extern "C" fn no_callback(_user: *mut c_void, _domain: u32, _id: u32, _data: *const c_void) {}
