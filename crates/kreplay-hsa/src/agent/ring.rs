//! The agent's own queue: a plain queue that only the engine's work goes through, in order.

use super::error::check;
use crate::abi::{AgentHandle, Packet, QUEUE_MULTI, Queue, Status, TYPE_INVALID};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Packets that the queue holds.
const PACKETS: u32 = 1024;
/// `UINT32_MAX` as a segment size: the runtime finds the size from the dispatches.
const ANY_SIZE: u32 = u32::MAX;

/// What the runtime says when the queue goes into error; 0 until then.
#[derive(Debug, Default)]
struct Fault(AtomicU32);

/// The queue. Every packet on it has the barrier bit, so each starts after all before it.
pub(super) struct Ring {
    api: Api,
    queue: *mut Queue,
    fault: &'static Fault,
}

// SAFETY: the queue is used under the agent's lock only, from whichever thread holds it.
unsafe impl Send for Ring {}

unsafe extern "C" fn failed(status: Status, _: *mut Queue, data: *mut c_void) {
    // SAFETY: `data` is the leaked fault of this queue.
    unsafe { &*data.cast::<Fault>() }.0.store(status.0.max(1), Ordering::Release);
}

impl Ring {
    /// Makes the queue.
    pub(super) fn new(api: Api, agent: AgentHandle) -> Result<Self, AgentError> {
        // Leaked: the runtime may call back as long as it likes. One for each queue that ever went into error.
        let fault: &'static Fault = Box::leak(Box::default());
        let mut queue = std::ptr::null_mut();
        // SAFETY: the callback has the right signature and its data lives for ever.
        let status = unsafe {
            (api.queue_create)(
                agent,
                PACKETS,
                QUEUE_MULTI,
                Some(failed),
                (&raw const *fault).cast_mut().cast(),
                ANY_SIZE,
                ANY_SIZE,
                &raw mut queue,
            )
        };
        check("hsa_queue_create", status)?;
        // Times of passes become the times that the program sees. A runtime that cannot is no reason to fail.
        // SAFETY: the queue is live.
        unsafe { (api.set_profiler_enabled)(queue, 1) };
        Ok(Self { api, queue, fault })
    }

    /// The status with which the queue went into error.
    pub(super) fn fault(&self) -> Option<Status> {
        match self.fault.0.load(Ordering::Acquire) {
            0 => None,
            status => Some(Status(status)),
        }
    }

    /// Submits packets behind everything submitted before.
    pub(super) fn push(&mut self, packets: &[Packet], deadline: Instant) -> Result<(), AgentError> {
        for packet in packets {
            self.push_one(packet, deadline)?;
        }
        Ok(())
    }

    fn push_one(&mut self, packet: &Packet, deadline: Instant) -> Result<(), AgentError> {
        // SAFETY: the queue is live; only this thread adds to it now.
        let index = unsafe { (self.api.queue_add_write_index)(self.queue, 1) };
        // SAFETY: `hsa_queue_t` is constant after its creation.
        let (base, size, doorbell) = unsafe {
            let queue = &*self.queue;
            (queue.base_address.cast::<Packet>(), u64::from(queue.size), queue.doorbell)
        };
        // SAFETY: the queue is live.
        while index - unsafe { (self.api.queue_read_index)(self.queue) } >= size {
            if let Some(status) = self.fault() {
                return Err(queue_failed(status));
            }
            if Instant::now() >= deadline {
                return Err(AgentError::Deadline { what: "a full queue" });
            }
            std::thread::yield_now();
        }
        // SAFETY: slot `index % size` is ours until its header is written; the packet processor reads the header first.
        unsafe {
            let slot = base.add((index % size) as usize);
            (*slot).header = u16::from(TYPE_INVALID);
            (&raw mut (*slot).body).write(packet.body);
            let first = u32::from(packet.header) | u32::from(packet.setup) << 16;
            (*slot.cast::<AtomicU32>()).store(first, Ordering::Release);
            (self.api.signal_store)(doorbell, index as i64);
        }
        Ok(())
    }

    /// Ends what runs on the queue; nothing of it runs any more.
    pub(super) fn inactivate(&self) {
        // SAFETY: the queue is live. In error it may be inactive already, and then nothing happens.
        unsafe { (self.api.queue_inactivate)(self.queue) };
    }

    /// Destroys the queue; what was on it does not run any more. Waits for the runtime's own thread, and with that for handlers of the
    /// program's: no lock may be held that these may want.
    pub(super) fn destroy(self) {
        // SAFETY: the queue is live and this is the last use.
        unsafe { (self.api.queue_destroy)(self.queue) };
    }
}

/// The error that a queue in error gives.
pub(super) fn queue_failed(status: Status) -> AgentError {
    AgentError::Failed { call: "the queue of the replay", status: status.to_string() }
}
