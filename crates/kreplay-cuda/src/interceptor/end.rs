//! The end of the process. Handlers run in the reverse order of their registration, and the last window of a process is often
//! open when it ends: ours is to run while everything that the window needs is still there.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Lets [`at_exit`] run before whatever has been registered so far to run at the process's end. Libraries that come to be used
/// register their own ends then: CUPTI does when it first counts, and must not be asked for a window's counters after that.
pub(crate) fn before_others_at_exit() {
    // SAFETY: registers a function of this library, which is never unloaded.
    unsafe { libc::atexit(at_exit) };
}

/// Objects may have been loaded since: a library with kernels takes them away at the process's end, and a window that recorded
/// them is to be closed before that.
pub(super) fn objects_may_be_new() {
    static LOADED: AtomicU64 = AtomicU64::new(0);
    let loaded = objects_loaded();
    if LOADED.swap(loaded, Ordering::Relaxed) != loaded {
        before_others_at_exit();
    }
}

/// How many objects the dynamic loader has loaded so far.
fn objects_loaded() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, loaded: *mut c_void) -> c_int {
        // SAFETY: the loader hands an object's description, with this count since glibc 2.3; `loaded` is the caller's.
        unsafe { *loaded.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut loaded = 0;
    // SAFETY: the callback is called with objects of the loader's while this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loaded).cast()) };
    loaded
}

/// Registered more than once; the first call does it. A forked child's handlers are its parent's, and do nothing there.
extern "C" fn at_exit() {
    end(super::start::finish);
}

fn end(finish: impl FnOnce() + std::panic::UnwindSafe) {
    static ENDED: AtomicBool = AtomicBool::new(false);
    // First who we are: a child may even share this memory with its parent.
    if super::forked::is_another_process() || ENDED.swap(true, Ordering::SeqCst) {
        return;
    }
    let _ = std::panic::catch_unwind(finish);
}

#[cfg(test)]
mod tests {
    use super::super::forked::{self, testing};
    use super::*;

    #[test]
    fn the_end_of_a_forked_child_is_not_the_programs() {
        assert!(forked::tell_children(std::sync::Arc::new(AtomicBool::new(true))));
        let child = || end(|| testing::leave(1));
        assert_eq!(testing::fork(child).code(), Some(0), "a child closed its parent's windows");
        // Nothing of libc's runs for such a child.
        assert_eq!(testing::bare_clone(child).code(), Some(0), "a child that was not told closed its parent's windows");
        let mut ended = false;
        end(std::panic::AssertUnwindSafe(|| ended = true));
        assert!(ended, "the parent's end is its own");
    }

    #[test]
    fn the_loader_counts_what_it_loads() {
        let before = objects_loaded();
        assert!(before > 0);
        // Of no use to anybody here, so it is not loaded yet.
        // SAFETY: a library of the system's without a constructor.
        let handle = unsafe { libc::dlopen(c"libutil.so.1".as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        assert!(objects_loaded() > before);
    }
}
