//! Threads of ours in the program.

use std::thread::Builder;

/// Starts one that takes no signals: they are for the program's own threads. `false`: none can be had.
pub(crate) fn start(name: &'static str, work: Box<dyn FnOnce() + Send>) -> bool {
    let blocked = Signals::block();
    let thread = Builder::new().name(name.to_owned()).spawn(work);
    drop(blocked);
    thread.is_ok()
}

/// Blocks all signals on this thread, for threads that it begins, until it is dropped. A thread that blocked its own would take some
/// before it came to that.
pub(crate) struct Signals {
    before: libc::sigset_t,
}

impl Signals {
    pub(crate) fn block() -> Option<Self> {
        // SAFETY: plain sets of bits, filled before use; they live on this stack.
        unsafe {
            let mut all = std::mem::zeroed::<libc::sigset_t>();
            let mut before = std::mem::zeroed::<libc::sigset_t>();
            libc::sigfillset(&raw mut all);
            let status = libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            (status == 0).then_some(Self { before })
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set that this thread had before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Whether this thread blocks a signal.
    fn blocks(signal: i32) -> bool {
        // SAFETY: a set that the call fills; nothing is changed.
        unsafe {
            let mut now = std::mem::zeroed::<libc::sigset_t>();
            assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut now), 0);
            libc::sigismember(&raw const now, signal) == 1
        }
    }

    #[test]
    fn a_thread_of_ours_takes_no_signals_and_the_programs_go_on_to() {
        let signals = [libc::SIGALRM, libc::SIGUSR1, libc::SIGTERM, libc::SIGPROF];
        let before = signals.map(blocks);
        let (sender, receiver) = channel();
        assert!(start("kreplay-test", Box::new(move || sender.send(signals.map(blocks)).expect("the test waits"))));
        assert_eq!(receiver.recv(), Ok([true; 4]));
        assert_eq!(signals.map(blocks), before);
    }
}
