//! Frames into the socket: at once when it takes them, through a bounded queue and one thread when it does not.

use std::collections::VecDeque;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send, sockopt};

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

struct Shared {
    stream: UnixStream,
    /// Cleared once, when the connection is given up. Interceptors read it on every call.
    alive: Arc<AtomicBool>,
    lost: AtomicU64,
    stall: Duration,
    queue: Mutex<Queue>,
    /// The queue has room, is empty, or the connection was given up.
    taken: Condvar,
    /// The queue has something, or the connection was given up.
    added: Condvar,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    /// Bytes of the first frame that are already in the socket.
    sent: usize,
    bytes: usize,
    /// A thread is taking frames from the front.
    passing_on: bool,
}

/// What one attempt to write did.
enum Attempt {
    Sent(usize),
    Full,
    Closed,
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
        let thread = std::thread::Builder::new().name("kreplay-link".to_owned()).stack_size(128 << 10);
        if thread.spawn(move || shared.pass_on(true)).is_err() {
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    fn lose(&self, frames: u64) -> bool {
        self.lost.fetch_add(frames, Ordering::Relaxed);
        false
    }

    fn attempt(&self, bytes: &[u8]) -> Attempt {
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
    fn pass_on(&self, stay: bool) {
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
    fn give_up(&self, queue: &mut Queue) {
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn pair(stall: Duration) -> (Link, UnixStream, Arc<AtomicBool>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let alive = Arc::new(AtomicBool::new(true));
        (Link::new(ours, Arc::clone(&alive), stall, std::process::id()), theirs, alive)
    }

    #[test]
    fn a_frame_is_in_the_socket_when_send_returns() {
        let (link, mut theirs, _) = pair(STALL);
        assert!(link.send(vec![1, 2, 3]));
        theirs.set_nonblocking(true).unwrap();
        let mut got = [0; 3];
        theirs.read_exact(&mut got).unwrap();
        assert_eq!(got, [1, 2, 3]);
    }

    #[test]
    fn frames_arrive_whole_and_in_order_at_a_slow_reader() {
        let (link, mut theirs, alive) = pair(STALL);
        // More than the socket and the queue hold together.
        let frames = 3000u32;
        let bytes = 16 << 10;
        let reader = std::thread::spawn(move || {
            let mut frame = vec![0; bytes];
            for expected in 0..frames {
                if expected == 0 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                theirs.read_exact(&mut frame).unwrap();
                assert_eq!(frame[..4], expected.to_le_bytes());
                assert_eq!(frame[bytes - 4..], expected.to_le_bytes());
            }
        });
        for number in 0..frames {
            let mut frame = vec![0; bytes];
            frame[..4].copy_from_slice(&number.to_le_bytes());
            frame[bytes - 4..].copy_from_slice(&number.to_le_bytes());
            assert!(link.send(frame));
        }
        assert!(link.flush());
        reader.join().unwrap();
        assert_eq!(link.lost(), 0);
        assert!(alive.load(Ordering::Relaxed));
    }

    #[test]
    fn a_closed_socket_is_given_up_without_a_signal() {
        let (link, theirs, alive) = pair(STALL);
        drop(theirs);
        assert!(!link.send(vec![0; 8]));
        assert!(!alive.load(Ordering::Relaxed));
        assert!(!link.send(vec![0; 8]));
        assert_eq!(link.lost(), 2);
        assert!(!link.flush());
    }

    #[test]
    fn a_reader_that_takes_nothing_is_given_up() {
        let (link, theirs, alive) = pair(Duration::from_millis(100));
        let mut sent = 0u64;
        while link.send(vec![0; 1 << 20]) {
            sent += 1;
            assert!(sent < 1000, "the queue has no bound");
        }
        assert!(!alive.load(Ordering::Relaxed));
        assert!(link.lost() >= 1);
        drop(theirs);
    }

    #[test]
    fn a_reader_that_dies_while_records_wait_frees_the_program() {
        let (link, theirs, _) = pair(STALL);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(theirs);
        });
        while link.send(vec![0; 1 << 20]) {}
        assert!(!link.flush());
        killer.join().unwrap();
    }
}
