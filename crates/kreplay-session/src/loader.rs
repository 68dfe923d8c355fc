//! Whether the dynamic loader is free. Its lock is held by a thread that closes a library while the library's own ends run: from
//! there nothing may wait for a thread that is new, or that needs the loader for the first time.

use crate::thread;
use kreplay_engine::{Agent, Engine};
use std::cell::RefCell;
use std::sync::mpsc;
use std::time::Duration;

/// How long the loader may be busy before it counts as held by whoever asks.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether threads can start and use the loader now; waits a second at most. `false` from within the end of a library that is
/// being closed: what would wait for such a thread there would wait for ever. Costs a thread.
pub fn loader_is_free() -> bool {
    thread_local! {
        /// Its destructor has to be registered, for which the C library takes the loader's lock.
        static DESTROYED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    let (tell, told) = mpsc::channel();
    let asks = move || {
        DESTROYED.with_borrow_mut(|bytes| bytes.push(1));
        // Nobody listens any more when it took too long.
        let _ = tell.send(());
    };
    thread::start("kreplay-loader", Box::new(asks)) && told.recv_timeout(PATIENCE).is_ok()
}

/// What ends windows may be called as a library is closed, with the loader held, and a replay may need threads that start: what an
/// engine has recorded is given up then. `free` is [`loader_is_free`].
pub fn spare_the_loader<A: Agent>(engine: &Engine<A>, free: fn() -> bool) {
    if engine.is_recording() && !free() {
        engine.give_up_recording("something it uses went with the library that held it");
    }
}

#[cfg(test)]
mod tests {
    use super::loader_is_free;

    /// While a library is closed it is not: the end-to-end suite `leaving` has such a program. Where a thread takes longer to
    /// start than the patience lasts, one of the next looks finds it.
    #[test]
    fn it_is_free_when_no_library_is_loaded_or_closed() {
        assert!((0..30).any(|_| loader_is_free()));
    }
}
