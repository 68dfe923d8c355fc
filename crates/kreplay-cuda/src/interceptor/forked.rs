//! Forked children: what a child of `fork()` has is our state without our threads, locks that other threads of its parent held, and a
//! driver that refuses every call there. So nothing of ours does anything in it. A program that a child executes is loaded into
//! anew, by its environment.
//!
//! Children of `vfork` and `posix_spawn` run in their parent's memory until they execute something, and are not told.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// Most lock files that children let go of: two for each GPU, and one more for each further context that counts on it.
const FILES: usize = 256;

static WATCHED: OnceLock<Watched> = OnceLock::new();
static FORKED: AtomicBool = AtomicBool::new(false);
static HELD: [AtomicI32; FILES] = [const { AtomicI32::new(-1) }; FILES];

struct Watched {
    process: u32,
    alive: Arc<AtomicBool>,
}

/// From now on this is the profiled process, and its children are told that they are not: `alive` is cleared there. Returns whether
/// they can be told.
pub(super) fn tell_children(alive: Arc<AtomicBool>) -> bool {
    if WATCHED.set(Watched { process: std::process::id(), alive }).is_err() {
        return true;
    }
    // SAFETY: the function stays loaded, and does only what a child of a process with threads may.
    unsafe { libc::pthread_atfork(None, None, Some(child)) == 0 }
}

/// Whether this is a child that was told so.
pub(super) fn in_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Whether this is any other process than the profiled one: also a child of a bare `clone`, which nobody told. A system call.
pub(super) fn is_another_process() -> bool {
    in_child() || WATCHED.get().is_some_and(|watched| watched.process != std::process::id())
}

/// Runs in each child before `fork` returns there: it may neither wait nor allocate.
unsafe extern "C" fn child() {
    FORKED.store(true, Ordering::SeqCst);
    if let Some(watched) = WATCHED.get() {
        watched.alive.store(false, Ordering::SeqCst);
    }
    // SAFETY: a path that ends in zero.
    let nothing = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    for held in &HELD {
        let number = held.load(Ordering::SeqCst);
        if number < 0 {
            continue;
        }
        // The number stays taken, so that nobody who still believes in the file closes one of the program's.
        // SAFETY: numbers of open files of ours.
        unsafe {
            if nothing < 0 || libc::dup3(nothing, number, libc::O_CLOEXEC) < 0 {
                libc::close(number);
            }
        }
    }
    if nothing >= 0 {
        // SAFETY: opened above.
        unsafe { libc::close(nothing) };
    }
}

/// A file that children of this process let go of: a lock on it belongs to whoever has it open, and a child that outlives its parent
/// would hold it on.
#[derive(Debug)]
pub(crate) struct OwnFile {
    file: File,
    place: Option<usize>,
}

impl OwnFile {
    /// Nobody may have locked it yet.
    pub(crate) fn new(file: File) -> Self {
        let number = file.as_raw_fd();
        let take = |held: &AtomicI32| held.compare_exchange(-1, number, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        let place = HELD.iter().position(take);
        Self { file, place }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            HELD[place].store(-1, Ordering::SeqCst);
        }
    }
}

impl AsRawFd for OwnFile {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Children of tests.
#[cfg(test)]
pub(crate) mod testing {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    /// As [`super::tell_children`], for tests without an interceptor.
    pub(crate) fn tell_children_in_tests() -> bool {
        super::tell_children(Default::default())
    }

    /// Ends a child, without its exit handlers.
    pub(crate) fn leave(code: i32) {
        // SAFETY: ends this process.
        unsafe { libc::_exit(code) }
    }

    /// Runs `work` in a forked child and tells how that ended; one that hangs is killed.
    pub(crate) fn fork(work: impl FnOnce()) -> ExitStatus {
        ended(begin(work))
    }

    /// Begins a forked child.
    pub(crate) fn begin(work: impl FnOnce()) -> libc::pid_t {
        // SAFETY: the child does its work and leaves.
        after(unsafe { libc::fork() }, work)
    }

    /// As [`fork`], without the C library knowing.
    pub(crate) fn bare_clone(work: impl FnOnce()) -> ExitStatus {
        // SAFETY: as `fork`: no flags but the signal at the end, and no stack of its own.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        ended(after(child as libc::pid_t, work))
    }

    fn after(child: libc::pid_t, work: impl FnOnce()) -> libc::pid_t {
        if child == 0 {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            leave(if worked.is_ok() { 0 } else { 2 });
        }
        assert!(child > 0, "no child");
        child
    }

    /// How a child ended.
    pub(crate) fn ended(child: libc::pid_t) -> ExitStatus {
        let mut status = 0;
        let start = Instant::now();
        // SAFETY: a child of this process, and a place for its status.
        while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } != child {
            if start.elapsed() > Duration::from_secs(20) {
                // SAFETY: as above; it is waited for next.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        ExitStatus::from_raw(status)
    }
}
