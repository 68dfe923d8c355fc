//! No panic crosses into the runtime.

use super::state;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `ours`; should it panic, the library is turned off for good and `otherwise` gives the answer.
pub(crate) fn guard<T>(place: &'static str, ours: impl FnOnce() -> T, otherwise: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(ours)) {
        Ok(value) => value,
        Err(_) => {
            state::turn_off(place);
            otherwise()
        }
    }
}
