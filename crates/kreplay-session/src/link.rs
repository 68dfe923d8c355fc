//! Frames into the socket: at once when it takes them, through a bounded queue and one thread when it does not.

mod queue;

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::net::sockopt;

use queue::{Attempt, Queue, Shared};

use crate::thread;

/// Most bytes that wait in memory for a command that does not keep up.
pub const QUEUE_BYTES: usize = 16 << 20;

/// A command that takes nothing for so long is given up for dead.
pub const STALL: Duration = Duration::from_secs(30);

/// What the socket's own buffer is asked to hold, so that short bursts need no queue. The system may give less.
const SOCKET_BYTES: usize = 4 << 20;

/// One process's connection, for sending only.
pub(crate) struct Link {
    shared: Arc<Shared>,
    /// The process whose connection this is; a forked child has it in its memory.
    pid: u32,
}

impl Link {
    /// A link of the process `pid` that sends through `stream`. `alive` is cleared when the connection is given up.
    pub(crate) fn new(stream: UnixStream, alive: Arc<AtomicBool>, stall: Duration, pid: u32) -> Self {
        // A smaller buffer only means that the queue is used earlier.
        let _ = sockopt::set_socket_send_buffer_size(&stream, SOCKET_BYTES);
        Self {
            pid,
            shared: Arc::new(Shared {
                stream,
                alive,
                lost: AtomicU64::new(0),
                stall,
                queue: Mutex::default(),
                taken: Condvar::new(),
                added: Condvar::new(),
            }),
        }
    }

    /// Sends a frame after all earlier ones. Returns whether it is in the socket or in the queue; if not, it is counted
    /// as lost.
    pub(crate) fn send(&self, frame: Vec<u8>) -> bool {
        let shared = &self.shared;
        let mut queue = shared.lock();
        if !shared.is_alive() {
            return shared.lose(1);
        }
        let mut sent = 0;
        if queue.frames.is_empty() {
            while sent < frame.len() {
                match shared.attempt(&frame[sent..]) {
                    Attempt::Sent(more) => sent += more,
                    Attempt::Full => break,
                    Attempt::Closed => {
                        shared.give_up(&mut queue);
                        return shared.lose(1);
                    }
                }
            }
            if sent == frame.len() {
                return true;
            }
            queue.sent = sent;
        }
        // A frame that is partly sent must follow, whatever the bound is; it is alone in the queue then.
        while !queue.frames.is_empty() && queue.bytes + frame.len() > QUEUE_BYTES && shared.is_alive() {
            queue = shared.taken.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if !shared.is_alive() {
            return shared.lose(1);
        }
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        self.ensure_passing_on(queue);
        true
    }

    /// Waits until everything is in the socket, or the connection was given up. Returns which.
    pub(crate) fn flush(&self) -> bool {
        let shared = &self.shared;
        let mut queue = shared.lock();
        while !queue.frames.is_empty() && shared.is_alive() {
            let before = (queue.bytes, queue.sent);
            let (woken, time) = shared.taken.wait_timeout(queue, shared.stall).unwrap_or_else(PoisonError::into_inner);
            queue = woken;
            // The thread that passes on may be gone: the system ends threads before the last destructors run.
            if time.timed_out() && (queue.bytes, queue.sent) == before {
                shared.give_up(&mut queue);
            }
        }
        shared.is_alive()
    }

    /// Frames that never reached the socket.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Ends the connection; later frames are lost.
    pub(crate) fn close(&self) {
        let mut queue = self.shared.lock();
        self.shared.give_up(&mut queue);
    }

    /// Starts the thread that takes from the queue unless it runs. If the system gives no thread, this one does the work.
    fn ensure_passing_on(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.passing_on {
            self.shared.added.notify_one();
            return;
        }
        queue.passing_on = true;
        drop(queue);
        let shared = Arc::clone(&self.shared);
        if !thread::start("kreplay-link", Box::new(move || shared.pass_on(true))) {
            self.shared.pass_on(false);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // To shut the socket down in a forked child would be to end the parent's connection.
        if self.pid == std::process::id() {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests;
