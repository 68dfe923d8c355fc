//! Threads of ours in the program.

use std::sync::OnceLock;
use std::thread::Builder;

/// Starts a thread, of this name, that takes none of the program's signals. `false`: none can be had.
///
/// It is the backends' to give, since blocking signals is a call of the C library's.
pub type StartThread = fn(&'static str, Box<dyn FnOnce() + Send>) -> bool;

static START: OnceLock<StartThread> = OnceLock::new();

/// Threads are started so from now on; the first time counts.
pub(crate) fn start_by(start: StartThread) {
    // Backends of one process start them alike.
    let _ = START.set(start);
}

/// Starts a thread; `false`: none can be had.
pub(crate) fn start(name: &'static str, work: Box<dyn FnOnce() + Send>) -> bool {
    match START.get() {
        Some(start) => start(name, work),
        None => Builder::new().name(name.to_owned()).spawn(work).is_ok(),
    }
}
