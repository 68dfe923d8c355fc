//! Creating, suspending and destroying queues.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::{Ring, aql, packet, sdma};
use crate::device::Device;

/// What packets a queue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// AQL packets.
    Aql,
    /// Packets of the copy engine.
    Sdma,
}

/// What a queue is made from.
#[derive(Clone, Copy, Debug)]
pub struct QueueRequest {
    /// What packets it takes.
    pub kind: QueueKind,
    /// First address of its ring.
    pub base: u64,
    /// Bytes of its ring.
    pub bytes: u64,
    /// For AQL: address of `read_dispatch_id` in the queue's `amd_queue_t`.
    pub read_index: u64,
}

/// Where the program finds a queue's indices and doorbell.
#[derive(Clone, Copy, Debug)]
pub struct QueueResource {
    /// Number of the queue.
    pub id: u64,
    /// Address of the doorbell.
    pub doorbell: u64,
    /// Address of the read index.
    pub read: u64,
    /// Address of the write index.
    pub write: u64,
}

/// Why a queue call was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// A ring or an index that makes no sense.
    #[error("a queue cannot be made from a ring of {bytes} bytes at {base:#x}: {why}")]
    BadRing {
        /// First address.
        base: u64,
        /// Bytes.
        bytes: u64,
        /// What is wrong.
        why: &'static str,
    },
    /// No such queue.
    #[error("there is no queue {0}")]
    Unknown(u64),
    /// The host gave no thread.
    #[error("no thread for the queue: {0}")]
    Thread(String),
}

/// Words that outlive queues: the program may ring a doorbell of a queue that is gone.
#[derive(Debug)]
struct Words {
    doorbell: &'static AtomicU64,
    read: &'static AtomicU64,
    write: &'static AtomicU64,
}

impl Words {
    fn new() -> Self {
        let word = || &*Box::leak(Box::new(AtomicU64::new(0)));
        Self { doorbell: word(), read: word(), write: word() }
    }
}

#[derive(Debug)]
struct Live {
    ring: Arc<Ring>,
    words: Words,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Inner {
    live: BTreeMap<u64, Live>,
    spare: Vec<Words>,
    last_id: u64,
}

/// The queues of a device.
#[derive(Debug, Default)]
pub struct Queues {
    inner: Mutex<Inner>,
}

impl Queues {
    /// Makes a queue and starts its thread.
    ///
    /// # Errors
    /// [`QueueError::BadRing`], or [`QueueError::Thread`].
    pub fn create(&self, device: &Arc<Device>, request: QueueRequest) -> Result<QueueResource, QueueError> {
        let QueueRequest { kind, base, bytes, read_index } = request;
        let bad = |why| QueueError::BadRing { base, bytes, why };
        if !bytes.is_power_of_two() || bytes < packet::BYTES || !base.is_multiple_of(packet::BYTES) {
            return Err(bad("the size must be a power of two and the address aligned to 64 bytes"));
        }
        device.memory.table().check(base, bytes, false).map_err(|_| bad("it is not mapped for the GPU"))?;
        let mut inner = self.lock();
        let words = inner.spare.pop().unwrap_or_else(Words::new);
        let (read, write, amd_queue) = match kind {
            QueueKind::Sdma => (words.read, words.write.as_ptr() as u64, 0),
            QueueKind::Aql => {
                let amd_queue = read_index.wrapping_sub(packet::QUEUE_READ_ID);
                if read_index == 0 || !amd_queue.is_multiple_of(64) {
                    return Err(bad("its read index is not that of an amd_queue_t"));
                }
                // SAFETY: the runtime says that `read_index` is the field of a live amd_queue_t, aligned as just checked; it
                // keeps the structure until the queue is destroyed, which ends the thread that uses the reference.
                let read = unsafe { AtomicU64::from_ptr(read_index as *mut u64) };
                (read, amd_queue + packet::QUEUE_WRITE_ID, amd_queue)
            }
        };
        words.doorbell.store(if kind == QueueKind::Aql { u64::MAX } else { 0 }, Ordering::Relaxed);
        words.write.store(0, Ordering::Relaxed);
        words.read.store(0, Ordering::Relaxed);
        inner.last_id += 1;
        let id = inner.last_id;
        let ring = Arc::new(Ring::new(id, kind, (base, bytes), amd_queue, words.doorbell, read));
        let thread = start(device, &ring)?;
        let resource =
            QueueResource { id, doorbell: words.doorbell.as_ptr() as u64, read: read.as_ptr() as u64, write };
        inner.live.insert(id, Live { ring, words, thread });
        Ok(resource)
    }

    /// Stops or resumes a queue between packets.
    ///
    /// # Errors
    /// [`QueueError::Unknown`].
    pub fn suspend(&self, id: u64, suspended: bool) -> Result<(), QueueError> {
        let inner = self.lock();
        let live = inner.live.get(&id).ok_or(QueueError::Unknown(id))?;
        live.ring.suspended.store(suspended, Ordering::Relaxed);
        Ok(())
    }

    /// Ends a queue: a running dispatch is cancelled, its thread is waited for.
    ///
    /// # Errors
    /// [`QueueError::Unknown`].
    pub fn destroy(&self, id: u64) -> Result<(), QueueError> {
        let live = self.lock().live.remove(&id).ok_or(QueueError::Unknown(id))?;
        live.ring.cancel.store(true, Ordering::Relaxed);
        // The thread catches its panics; a join error would only repeat one.
        let _ = live.thread.join();
        self.lock().spare.push(live.words);
        Ok(())
    }

    /// Live queues.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.lock().live.len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(device: &Arc<Device>, ring: &Arc<Ring>) -> Result<JoinHandle<()>, QueueError> {
    let (device, ring) = (Arc::clone(device), Arc::clone(ring));
    // The program's signal handlers are not to run on this thread: it inherits a full mask.
    let old = block_signals();
    let thread = std::thread::Builder::new().name(format!("softgpu-q{}", ring.id)).spawn(move || {
        let run = || match ring.kind {
            QueueKind::Aql => aql::run(&device, &ring),
            QueueKind::Sdma => sdma::run(&device, &ring),
        };
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err() {
            super::error::internal(&device, &ring);
        }
    });
    restore_signals(&old);
    thread.map_err(|e| QueueError::Thread(e.to_string()))
}

fn block_signals() -> libc::sigset_t {
    // SAFETY: both sets are plain memory that the calls fill; only this thread's mask changes.
    unsafe {
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
        old
    }
}

fn restore_signals(old: &libc::sigset_t) {
    // SAFETY: the mask is the one this thread had.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
}
