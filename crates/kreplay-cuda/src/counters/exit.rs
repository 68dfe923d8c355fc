//! The end of the process, as far as CUPTI is concerned.
//!
//! The last window of a process is often open when it ends, and is closed by an exit handler. Handlers run in the reverse
//! order of their registration, and what CUPTI, its libraries and the driver set up for themselves is registered as they are
//! first used: one that was registered before that runs when they are gone, and counting crashes then. So ours is
//! registered again when a window opens that may be left to it, and whenever the hardware was programmed in a way that is new to
//! the process.

use std::collections::HashSet;
use std::sync::Mutex;

use super::Guarded;

/// Each of the first windows registers the handler: while a program begins it loads libraries.
const EACH: u64 = 32;

/// Window `number` opens, which may be closed by the exit handler. Registrations are never given back, so that of many windows only
/// some make one; what a library registers between two of them is its own.
pub(super) fn window_opens(number: u64) {
    if number <= EACH || number.is_power_of_two() {
        crate::interceptor::before_others_at_exit();
    }
}

/// The hardware was programmed with the group of this key.
pub(super) fn programmed(key: usize) {
    static KNOWN: Mutex<Option<HashSet<usize>>> = Mutex::new(None);
    if KNOWN.guarded().get_or_insert_default().insert(key) {
        crate::interceptor::before_others_at_exit();
    }
}
