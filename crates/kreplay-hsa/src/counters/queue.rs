//! What the counters need of the agent: packets on its queue, and memory.

use kreplay_engine::CountersError;

/// Memory that host and device see under one address.
#[derive(Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// Where it lies, for both.
    pub address: u64,
    /// Its length.
    pub bytes: usize,
    /// The agent's own mark.
    pub token: u64,
}

/// The agent's own queue, as the counters use it.
///
/// A packet is a whole AQL packet of 16 words: a vendor packet whose header has the barrier bit and system fences set,
/// so it begins when everything before it has ended, and what it stores can be seen by the host. It has no completion
/// signal. The header (the low half of word 0) is to be stored last, as for any AQL packet.
///
/// The dispatches that are counted go through the same queue: that orders them with the packets, and on real hardware
/// only the kernels of a queue count on which a start packet has run.
///
/// # Safety
/// Host and device may read and write `bytes` bytes at `address` of a buffer, until it is given back.
pub unsafe trait PacketQueue: Send + Sync + 'static {
    /// Puts packets into the queue, in order, and rings the doorbell.
    ///
    /// # Errors
    /// Any [`CountersError`]; none of the packets is in the queue then.
    fn submit_packets(&self, packets: &[[u32; 16]]) -> Result<(), CountersError>;

    /// Memory from which the command processor can execute, aligned to 256 bytes.
    ///
    /// # Errors
    /// Any [`CountersError`].
    fn alloc_command(&self, bytes: usize) -> Result<SharedBuffer, CountersError>;

    /// Memory that the command processor can write and the host can read, coherent, aligned to 256 bytes.
    ///
    /// # Errors
    /// Any [`CountersError`].
    fn alloc_output(&self, bytes: usize) -> Result<SharedBuffer, CountersError>;

    /// Takes a buffer back. Nothing on the device uses it any more.
    fn free(&self, buffer: SharedBuffer);

    /// Waits until every packet and dispatch of the queue has ended, with the agent's own deadline.
    ///
    /// # Errors
    /// Any [`CountersError`], also when the deadline has passed or the queue has failed.
    fn settle(&self) -> Result<(), CountersError>;

    /// Waits until the whole device is idle: the program's queues and copies too.
    ///
    /// # Errors
    /// As [`PacketQueue::settle`].
    fn idle(&self) -> Result<(), CountersError> {
        self.settle()
    }

    /// How much was submitted to the device so far, by the program or by the agent, waits of [`PacketQueue::idle`] aside.
    fn submissions(&self) -> u64 {
        0
    }
}

/// The low half of word 0 of a packet: vendor specific (type 0), barrier, acquire and release at system scope.
pub(super) const VENDOR_HEADER: u32 = 1 << 8 | 2 << 9 | 2 << 11;
