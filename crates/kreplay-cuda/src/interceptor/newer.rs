//! Functions of a driver that is newer than what is known of it. What one does nobody knows, so a window that records ends before
//! it, and it is said once.

use super::call::call_name;
use super::ids::Written;
use super::{Interceptor, locked};
use crate::tables::callback::{CallbackData, cbid};
use std::collections::HashSet;
use std::ffi::CStr;
use std::sync::Mutex;

/// Functions whose numbers follow that are looked for.
const MOST: u32 = 500;

/// Names that were warned of.
#[derive(Debug, Default)]
pub(super) struct Newer(Mutex<HashSet<&'static str>>);

/// Such functions that callbacks are asked for: all that have a name and do more than ask.
pub(super) fn newer(name: impl Fn(u32) -> Option<&'static CStr>) -> impl Iterator<Item = u32> {
    let acts = move |id: &u32| name(*id).is_some_and(|name| !asks(&name.to_string_lossy()));
    (cbid::NEWEST + 1..=cbid::NEWEST + MOST).filter(acts)
}

impl Interceptor {
    /// *Enter* of such a function.
    pub(super) fn newer_enter(&self, data: &CallbackData, id: u32) {
        let name = call_name(data).unwrap_or("a function without a name");
        if locked(&self.newer.0).insert(name) {
            (self.warn)(
                "newer_function",
                format!(
                    "the program calls {name}, which is newer than this kreplay: windows end before it, and what it launches or \
                     allocates is not seen"
                ),
            );
        }
        self.operation_enter(data, id, Written::Unknown);
    }
}

/// Whether a function only asks, by its name.
fn asks(name: &str) -> bool {
    ["Get", "Query", "Occupancy", "CanAccess", "Elapsed", "Enumerate"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_by_their_names() {
        assert!(asks("cuDeviceGetP2PAtomicCapabilities") && asks("cuStreamQuery_v2"));
        assert!(!asks("cuLaunchKernelExV2") && !asks("cuMemsetBatchAsync"));
        let name = |id: u32| match id - cbid::NEWEST {
            1 => Some(c"cuDeviceGetSomething"),
            3 => Some(c"cuMemDoSomething"),
            _ => None,
        };
        assert_eq!(newer(name).collect::<Vec<_>>(), [cbid::NEWEST + 3]);
    }
}
