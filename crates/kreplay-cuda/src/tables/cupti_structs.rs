//! Structures of CUPTI's Profiler, Profiler Host and Range Profiler interfaces, as of 12.6 to 13.0: the oldest sizes, which
//! newer libraries accept.

use super::Context;
use super::abi::sized_struct;
use std::ffi::{c_char, c_void};

/// A session of the Range Profiler.
pub(crate) type RangeObject = *mut c_void;
/// A Profiler Host object.
pub(crate) type HostObject = *mut c_void;

sized_struct! {
    /// Who subscribes, and who has subscribed already.
    SubscriberParams: 32 / 32 {
        old_name @ 16: *mut c_char,
        old_bytes @ 24: usize,
    }
}
// The subscriber's own name stands where the other structures have their private pointer.
impl SubscriberParams {
    /// For a subscriber of this name; the name of one that is in the way is written to `old`.
    pub(crate) fn new(name: &'static std::ffi::CStr, old: &mut [u8; 128]) -> Self {
        Self {
            private: name.as_ptr().cast_mut().cast(),
            old_name: old.as_mut_ptr().cast(),
            old_bytes: old.len(),
            ..Default::default()
        }
    }
}

sized_struct! {
    /// `cuptiProfilerInitialize`.
    ProfilerInitialize: 16 / 16 {}
}

sized_struct! {
    /// `cuptiProfilerDeviceSupported`. Levels: 0 unknown, 1 unsupported, 2 disabled, 3 supported.
    DeviceSupported: 52 / 56 {
        device @ 16: i32,
        is_supported @ 20: u32,
        architecture @ 24: u32,
        sli @ 28: u32,
        virtual_gpu @ 32: u32,
        confidential_compute @ 36: u32,
        mining @ 40: u32,
        wsl @ 44: u32,
        interface @ 48: u32,
    }
}

sized_struct! {
    /// `cuptiDeviceGetChipName`.
    DeviceGetChipName: 32 / 32 {
        device @ 16: usize,
        chip @ 24: *const c_char,
    }
}

sized_struct! {
    /// `cuptiProfilerGetCounterAvailability`.
    CounterAvailability: 40 / 40 {
        context @ 16: Context,
        image_bytes @ 24: usize,
        image @ 32: *mut u8,
    }
}

sized_struct! {
    /// `cuptiProfilerHostInitialize`.
    HostInitialize: 48 / 48 {
        kind @ 16: u32,
        chip @ 24: *const c_char,
        availability @ 32: *const u8,
        object @ 40: HostObject,
    }
}

sized_struct! {
    /// `cuptiProfilerHostDeinitialize`.
    HostDeinitialize: 24 / 24 {
        object @ 16: HostObject,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetSupportedChips`.
    HostSupportedChips: 32 / 32 {
        count @ 16: usize,
        names @ 24: *const *const c_char,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetBaseMetrics`.
    HostBaseMetrics: 48 / 48 {
        object @ 16: HostObject,
        kind @ 24: u32,
        names @ 32: *const *const c_char,
        count @ 40: usize,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetSubMetrics`.
    HostSubMetrics: 56 / 56 {
        object @ 16: HostObject,
        kind @ 24: u32,
        name @ 32: *const c_char,
        count @ 40: usize,
        names @ 48: *const *const c_char,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetMetricProperties`.
    HostMetricProperties: 60 / 64 {
        object @ 16: HostObject,
        name @ 24: *const c_char,
        description @ 32: *const c_char,
        block @ 40: *const c_char,
        unit @ 48: *const c_char,
        kind @ 56: u32,
    }
}

sized_struct! {
    /// `cuptiProfilerHostConfigAddMetrics`.
    HostConfigAddMetrics: 40 / 40 {
        object @ 16: HostObject,
        names @ 24: *const *const c_char,
        count @ 32: usize,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetConfigImageSize`.
    HostConfigImageSize: 32 / 32 {
        object @ 16: HostObject,
        bytes @ 24: usize,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetConfigImage`.
    HostConfigImage: 40 / 40 {
        object @ 16: HostObject,
        bytes @ 24: usize,
        image @ 32: *mut u8,
    }
}

sized_struct! {
    /// `cuptiProfilerHostGetNumOfPasses`.
    HostPasses: 40 / 40 {
        bytes @ 16: usize,
        image @ 24: *const u8,
        passes @ 32: usize,
    }
}

sized_struct! {
    /// `cuptiProfilerHostEvaluateToGpuValues`.
    HostEvaluate: 72 / 72 {
        object @ 16: HostObject,
        image @ 24: *const u8,
        image_bytes @ 32: usize,
        range @ 40: usize,
        names @ 48: *const *const c_char,
        count @ 56: usize,
        values @ 64: *mut f64,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerEnable`.
    RangeEnable: 32 / 32 {
        context @ 16: Context,
        object @ 24: RangeObject,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerDisable` and `…Start`, which look the same.
    RangeSession: 24 / 24 {
        object @ 16: RangeObject,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerSetConfig`.
    RangeSetConfig: 90 / 96 {
        object @ 16: RangeObject,
        config_bytes @ 24: usize,
        config @ 32: *const u8,
        counters_bytes @ 40: usize,
        counters @ 48: *mut u8,
        range @ 56: u32,
        replay @ 60: u32,
        ranges_per_pass @ 64: usize,
        nesting_levels @ 72: u16,
        least_nesting @ 74: u16,
        pass @ 80: usize,
        target_nesting @ 88: u16,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerStop`.
    RangeStop: 41 / 48 {
        object @ 16: RangeObject,
        pass @ 24: usize,
        target_nesting @ 32: usize,
        all_submitted @ 40: u8,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerDecodeData`.
    RangeDecode: 32 / 32 {
        object @ 16: RangeObject,
        dropped @ 24: usize,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerGetCounterDataSize`.
    RangeCountersSize: 64 / 64 {
        object @ 16: RangeObject,
        names @ 24: *const *const c_char,
        count @ 32: usize,
        ranges @ 40: usize,
        nodes @ 48: u32,
        bytes @ 56: usize,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerCounterDataImageInitialize`.
    RangeCountersInitialize: 40 / 40 {
        object @ 16: RangeObject,
        bytes @ 24: usize,
        image @ 32: *mut u8,
    }
}

sized_struct! {
    /// `cuptiRangeProfilerGetCounterDataInfo`.
    RangeCountersInfo: 40 / 40 {
        image @ 16: *const u8,
        bytes @ 24: usize,
        ranges @ 32: usize,
    }
}
