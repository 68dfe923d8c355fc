//! Structures of CUPTI's PM sampling interface, as of 12.6 to 13.0: the oldest sizes, which newer libraries accept.

use super::abi::sized_struct;
use std::ffi::{c_char, c_void};

/// A device's sampling session.
pub(crate) type SamplingObject = *mut c_void;

/// The interval is in nanoseconds (0 would count cycles of the system clock). Not on GA100 and older.
pub(crate) const BY_TIME: u32 = 1;
/// When the hardware's buffer is full the oldest records stay and the overflow is told (1 would overwrite them silently).
pub(crate) const KEEP_OLDEST: u32 = 0;

/// Why decoding stopped, as CUPTI numbers it: the counter image is full, and what it had no room for is lost. (0 is *other*,
/// 2 means that every record so far was decoded.)
pub(crate) const IMAGE_FULL: u32 = 1;

/// What CUPTI 12.6 accepts as the size of [`SamplingSetConfig`], which had no `append` then.
pub(crate) const SET_CONFIG_OLD: usize = 60;

sized_struct! {
    /// `cuptiPmSamplingSetConfig`.
    SamplingSetConfig: 64 / 64 {
        object @ 16: SamplingObject,
        config_bytes @ 24: usize,
        config @ 32: *const u8,
        buffer_bytes @ 40: usize,
        interval @ 48: u64,
        trigger @ 56: u32,
        append @ 60: u32,
    }
}

sized_struct! {
    /// `cuptiPmSamplingEnable`.
    SamplingEnable: 32 / 32 {
        device @ 16: usize,
        object @ 24: SamplingObject,
    }
}

sized_struct! {
    /// `cuptiPmSamplingDisable`, `…Start` and `…Stop`, which look the same.
    SamplingSession: 24 / 24 {
        object @ 16: SamplingObject,
    }
}

sized_struct! {
    /// `cuptiPmSamplingDecodeData`.
    SamplingDecode: 45 / 48 {
        object @ 16: SamplingObject,
        image @ 24: *mut u8,
        image_bytes @ 32: usize,
        stopped @ 40: u32,
        overflow @ 44: u8,
    }
}

sized_struct! {
    /// `cuptiPmSamplingGetCounterAvailability`.
    SamplingAvailability: 40 / 40 {
        device @ 16: usize,
        image_bytes @ 24: usize,
        image @ 32: *mut u8,
    }
}

sized_struct! {
    /// `cuptiPmSamplingGetCounterDataSize`.
    SamplingCountersSize: 56 / 56 {
        object @ 16: SamplingObject,
        names @ 24: *const *const c_char,
        count @ 32: usize,
        samples @ 40: u32,
        bytes @ 48: usize,
    }
}

sized_struct! {
    /// `cuptiPmSamplingCounterDataImageInitialize`.
    SamplingCountersInitialize: 40 / 40 {
        object @ 16: SamplingObject,
        bytes @ 24: usize,
        image @ 32: *mut u8,
    }
}

sized_struct! {
    /// `cuptiPmSamplingGetCounterDataInfo`.
    SamplingCountersInfo: 56 / 56 {
        image @ 16: *const u8,
        bytes @ 24: usize,
        total @ 32: usize,
        populated @ 40: usize,
        completed @ 48: usize,
    }
}

sized_struct! {
    /// `cuptiPmSamplingCounterDataGetSampleInfo`. Times are in ns of the GPU's clock.
    SamplingSampleInfo: 64 / 64 {
        object @ 16: SamplingObject,
        image @ 24: *const u8,
        bytes @ 32: usize,
        index @ 40: usize,
        start @ 48: u64,
        end @ 56: u64,
    }
}
