//! What a queue's thread shares with those who use the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::registry::QueueKind;

/// A queue: its ring, its indices, its doorbell.
#[derive(Debug)]
pub struct Ring {
    /// Number in this process.
    pub id: u64,
    /// What packets it takes.
    pub kind: QueueKind,
    /// First address of the ring.
    pub base: u64,
    /// Bytes of the ring, a power of two.
    pub bytes: u64,
    /// Address of the structure `amd_queue_t`, for AQL queues; 0 for others.
    pub amd_queue: u64,
    /// Where the program writes new packets' index or offset.
    pub doorbell: &'static AtomicU64,
    read: &'static AtomicU64,
    /// Ends the thread, and with it a running dispatch.
    pub cancel: Arc<AtomicBool>,
    /// Set while the runtime has the queue suspended.
    pub suspended: AtomicBool,
    /// Set when an error has stopped the queue.
    pub halted: AtomicBool,
    /// Packets done.
    pub packets: AtomicU64,
}

impl Ring {
    pub(super) fn new(
        id: u64,
        kind: QueueKind,
        (base, bytes): (u64, u64),
        amd_queue: u64,
        doorbell: &'static AtomicU64,
        read: &'static AtomicU64,
    ) -> Self {
        let cancel = Arc::new(AtomicBool::new(false));
        let (suspended, halted) = (AtomicBool::new(false), AtomicBool::new(false));
        let packets = AtomicU64::new(0);
        Self { id, kind, base, bytes, amd_queue, doorbell, read, cancel, suspended, halted, packets }
    }

    /// Whether the queue is being destroyed.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Whether packets may be processed now.
    #[must_use]
    pub fn active(&self) -> bool {
        !self.suspended.load(Ordering::Relaxed) && !self.halted.load(Ordering::Relaxed)
    }

    /// Packets (AQL) or bytes (SDMA) done, as the program sees it.
    #[must_use]
    pub fn read_index(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Tells the program that it may reuse what lies before `index`.
    pub fn set_read_index(&self, index: u64) {
        self.read.store(index, Ordering::Release);
        self.packets.fetch_add(1, Ordering::Relaxed);
    }
}
