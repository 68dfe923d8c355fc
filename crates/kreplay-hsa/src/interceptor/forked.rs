//! Forked children: what a child of `fork()` has is our state without our threads, locks that other threads of its parent held, and
//! handles of a runtime that is of no use to it (ROCr and the driver leave devices to the process that opened them). So nothing of
//! ours does anything there. A program that a child executes is loaded into anew, by its environment.
//!
//! Children of `vfork` and `posix_spawn` run in their parent's memory until they execute something, and are not told.

use super::state::backend;

/// From now on children are told what they are. Returns whether that is so.
pub(crate) fn tell_children() -> bool {
    // SAFETY: the function stays loaded, and does only what a child of a process with threads may.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) == 0 }
}

/// Runs in each child before `fork` returns there: it may neither wait nor allocate.
unsafe extern "C" fn in_child() {
    if let Some(backend) = backend() {
        backend.forked();
    }
}
