//! No panic crosses into the runtime.

use super::state;
use kreplay_engine::InCall;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `ours`; should it panic, the library is turned off for good and `otherwise` gives the answer.
pub(crate) fn guard<T>(place: &'static str, ours: impl FnOnce() -> T, otherwise: impl FnOnce() -> T) -> T {
    let _call = place.starts_with("hsa_").then(|| InCall::new(place));
    match catch_unwind(AssertUnwindSafe(ours)) {
        Ok(value) => value,
        Err(_) => {
            state::turn_off(place);
            otherwise()
        }
    }
}
