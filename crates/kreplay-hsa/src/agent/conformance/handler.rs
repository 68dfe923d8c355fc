//! A handler of the program's that keeps the runtime's own thread.

use super::{SoftRig, soon};
use crate::abi::{CONDITION_LT, Signal};
use kreplay_engine::conformance::Rig;
use kreplay_engine::{Agent, Chunk, Range};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How far the handler is: not called, running, and to return.
static HANDLER: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn busy(_: i64, _: *mut c_void) -> bool {
    HANDLER.store(1, Ordering::Release);
    while HANDLER.load(Ordering::Acquire) == 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

pub(super) fn ends_a_queue_beside_it(rig: &SoftRig) {
    let api = rig.runtime.api;
    let mut signal = Signal::default();
    // SAFETY: a place for the signal; the handler lives as long as the process, and the signal until it was called.
    unsafe {
        assert!((api.signal_create)(1, 0, std::ptr::null(), &raw mut signal).is_ok());
        assert!((api.signal_async_handler)(signal, CONDITION_LT, 1, busy, std::ptr::null_mut()).is_ok());
        (api.signal_store)(signal, 0);
    }
    while HANDLER.load(Ordering::Acquire) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let released = std::thread::scope(|scope| {
        let (done, waiting) = channel();
        let watch = scope.spawn(move || {
            let late = waiting.recv_timeout(Duration::from_secs(20)).is_err();
            HANDLER.store(2, Ordering::Release);
            late
        });
        // A deadline has passed.
        rig.agent.own().expect("there is a queue").overdue = true;
        rig.agent.settle(soon()).expect("what ran is ended");
        done.send(()).ok();
        watch.join().expect("no panic")
    });
    assert!(!released, "it waited for the handler");
    // The next one works.
    let base = rig.allocate(4096);
    let tickets = rig.agent.hash(&[Range::new(base, 4096)], Chunk::DEFAULT).expect("asked");
    rig.agent.answer(tickets, soon()).expect("answered");
    rig.agent.settle(soon()).expect("settled");
    rig.free(base);
    // SAFETY: its handler has returned, and is not called again.
    unsafe { (api.signal_destroy)(signal) };
}
