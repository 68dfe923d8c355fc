//! Attributes of functions: a replay needs those that its launch had.

use super::{Interceptor, locked};
use crate::tables::Function;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{FunctionAttributeParams, KernelAttributeParams};
use kreplay_engine::ClosingReason;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Mutex;

/// Most dynamic shared memory that a launch may ask for, in bytes.
const MOST_SHARED: i32 = 8;
/// What it is before it is set; less where the function has static shared memory.
const USUAL_SHARED: i32 = 48 << 10;
/// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH` to `…_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`: zero before they are set.
const CLUSTERS: std::ops::RangeInclusive<i32> = 11..=14;

/// What attributes of functions were set to.
#[derive(Debug, Default)]
pub(super) struct Attributes(Mutex<HashMap<Setting, i32>>);

/// A function or kernel, the device of a kernel, and the attribute's number.
type Setting = (u64, i32, i32);

impl Attributes {
    /// Code goes, and handles may come to mean another function.
    pub(super) fn forget(&self) {
        locked(&self.0).clear();
    }

    /// Whether launches from before may not be possible any more, or be other ones, once it is set. Programs set the same again
    /// and again; a larger limit takes nothing away, and preferences change no result.
    fn takes_away(&self, (function, device, attribute): Setting, value: i32) -> bool {
        let before = locked(&self.0).get(&(function, device, attribute)).copied();
        match attribute {
            MOST_SHARED => value < before.unwrap_or(USUAL_SHARED),
            _ if CLUSTERS.contains(&attribute) => value != before.unwrap_or(0),
            _ => false,
        }
    }
}

impl Interceptor {
    /// *Enter* of `cuFuncSetAttribute` and `cuKernelSetAttribute`. Libraries set what they like before the first launch, which takes
    /// nothing from anyone.
    pub(super) fn attribute_enter(&self, data: &CallbackData, kernel: bool) {
        let (setting, value) = setting(data, kernel);
        if self.attributes.takes_away(setting, value) && self.launched(Function(setting.0 as *mut c_void)) {
            self.end_recordings(ClosingReason::Unrecordable);
        }
    }

    fn launched(&self, function: Function) -> bool {
        let _depth = crate::agent::Depth::enter();
        self.all_contexts().iter().any(|state| state.functions.launched(&self.driver, function))
    }

    /// *Exit*, when it succeeded.
    pub(super) fn attribute_exit(&self, data: &CallbackData, kernel: bool) {
        let (setting, value) = setting(data, kernel);
        locked(&self.attributes.0).insert(setting, value);
    }
}

fn setting(data: &CallbackData, kernel: bool) -> (Setting, i32) {
    if kernel {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<KernelAttributeParams>().read() };
        return ((p.kernel, p.device, p.attribute), p.value);
    }
    // SAFETY: as above.
    let p = unsafe { data.parameters.cast::<FunctionAttributeParams>().read() };
    ((p.function, 0, p.attribute), p.value)
}
