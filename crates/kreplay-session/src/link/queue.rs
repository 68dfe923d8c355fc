//! What waits for a socket that is full, and the thread that passes it on.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// The connection, as those who send and the thread share it.
pub(super) struct Shared {
    pub(super) stream: UnixStream,
    /// Cleared once, when the connection is given up. Interceptors read it on every call.
    pub(super) alive: Arc<AtomicBool>,
    pub(super) lost: AtomicU64,
    pub(super) stall: Duration,
    pub(super) queue: Mutex<Queue>,
    /// The queue has room, is empty, or the connection was given up.
    pub(super) taken: Condvar,
    /// The queue has something, or the connection was given up.
    pub(super) added: Condvar,
}

/// Frames that are not in the socket yet.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) frames: VecDeque<Vec<u8>>,
    /// Bytes of the first frame that are already in the socket.
    pub(super) sent: usize,
    pub(super) bytes: usize,
    /// A thread is taking frames from the front.
    pub(super) passing_on: bool,
}

/// What one attempt to write did.
pub(super) enum Attempt {
    Sent(usize),
    Full,
    Closed,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    pub(super) fn lose(&self, frames: u64) -> bool {
        self.lost.fetch_add(frames, Ordering::Relaxed);
        false
    }

    pub(super) fn attempt(&self, bytes: &[u8]) -> Attempt {
        loop {
            match send(&self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(sent) => return Attempt::Sent(sent.min(bytes.len())),
                Err(Errno::INTR) => {}
                // Unix sockets say NOBUFS where the system is short of memory for a moment.
                Err(Errno::AGAIN | Errno::NOBUFS) => return Attempt::Full,
                Err(_) => return Attempt::Closed,
            }
        }
    }

    /// Takes frames from the front until the connection is given up, or, unless `stay`, until there are none.
    pub(super) fn pass_on(&self, stay: bool) {
        let mut progress = Instant::now();
        let mut queue = self.lock();
        loop {
            if !self.is_alive() {
                queue.passing_on = false;
                return;
            }
            let Some(frame) = queue.frames.pop_front() else {
                queue.sent = 0;
                self.taken.notify_all();
                if !stay {
                    queue.passing_on = false;
                    return;
                }
                queue = self.added.wait(queue).unwrap_or_else(PoisonError::into_inner);
                progress = Instant::now();
                continue;
            };
            match self.attempt(&frame[queue.sent.min(frame.len())..]) {
                Attempt::Sent(more) => {
                    progress = Instant::now();
                    queue.sent += more;
                    if queue.sent >= frame.len() {
                        queue.sent = 0;
                        queue.bytes = queue.bytes.saturating_sub(frame.len());
                        self.taken.notify_all();
                    } else {
                        queue.frames.push_front(frame);
                    }
                }
                Attempt::Full => {
                    queue.frames.push_front(frame);
                    if progress.elapsed() >= self.stall {
                        self.give_up(&mut queue);
                        continue;
                    }
                    // Others may add meanwhile; nobody but this thread takes.
                    drop(queue);
                    self.wait_writable();
                    queue = self.lock();
                }
                Attempt::Closed => {
                    queue.frames.push_front(frame);
                    self.give_up(&mut queue);
                }
            }
        }
    }

    fn wait_writable(&self) {
        let until = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let mut sockets = [PollFd::new(&self.stream, PollFlags::OUT)];
        // An error or an interruption only means that the next attempt comes earlier.
        if poll(&mut sockets, Some(&until)).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Gives the connection up: what waits is lost, and everybody who waits is told.
    pub(super) fn give_up(&self, queue: &mut Queue) {
        self.alive.store(false, Ordering::Relaxed);
        self.lose(queue.frames.len() as u64);
        queue.frames.clear();
        queue.bytes = 0;
        queue.sent = 0;
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        self.taken.notify_all();
        self.added.notify_all();
    }
}
