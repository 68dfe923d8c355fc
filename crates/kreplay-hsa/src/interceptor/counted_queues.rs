//! Queues that the runtime shares out (ROCm 7): several handles may stand for one of the hardware's.
//!
//! The runtime makes them behind its tables, where nothing could be intercepted: kernels on them would be seen by nobody. So each is
//! made an intercept queue of its own, with the priority that was asked for. That the program has more queues than it would have
//! had changes no order that it could count on.

use super::guard;
use super::queues::{create, queue_destroy};
use super::state::backend;
use crate::abi::{AGENT_INFO_QUEUE_MAX_SIZE, AgentHandle, Queue, Status};
use crate::tables::QueueError;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Packets of a queue of which nobody says how many it shall hold, as HIP asks for.
const PACKETS: u32 = 16384;

/// Those that are ours.
#[derive(Default)]
pub(crate) struct CountedQueues(Mutex<BTreeSet<u64>>);

impl CountedQueues {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `hsa_amd_counted_queue_acquire`.
pub(super) unsafe extern "C" fn acquire(
    agent: AgentHandle,
    kind: u32,
    priority: u32,
    callback: QueueError,
    data: *mut c_void,
    flags: u64,
    queue: *mut *mut Queue,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.counted_acquire else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let theirs = || unsafe { original(agent, kind, priority, callback, data, flags, queue) };
    if !backend.is_on() || queue.is_null() || backend.unit(agent).is_none() {
        return theirs();
    }
    let mut most = PACKETS;
    // SAFETY: the attribute is of 32 bits.
    unsafe { (backend.api.agent_get_info)(agent, AGENT_INFO_QUEUE_MAX_SIZE, (&raw mut most).cast()) };
    let size = most.clamp(1, PACKETS);
    // Any size of private and group memory.
    let any = u32::MAX;
    let none = || Status::OUT_OF_RESOURCES;
    // SAFETY: the program's own arguments, and sizes that the runtime takes.
    let status = unsafe { create(backend, agent, size, kind, callback, data, any, any, queue, none) };
    if status.is_ok() {
        // SAFETY: the call that filled it succeeded.
        let made = unsafe { *queue };
        // SAFETY: a live queue. One of another priority is as good.
        unsafe { (backend.api.queue_set_priority)(made, priority) };
        guard("hsa_amd_counted_queue_acquire", || backend.counted_queues.lock().insert(made as u64), || false);
    }
    status
}

/// `hsa_amd_counted_queue_release`.
pub(super) unsafe extern "C" fn release(queue: *mut Queue) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let ours = || backend.counted_queues.lock().remove(&(queue as u64));
    if !backend.is_forked() && guard("hsa_amd_counted_queue_release", ours, || false) {
        // SAFETY: a queue of ours, which the program does not use any more.
        return unsafe { queue_destroy(queue) };
    }
    let Some(original) = backend.api.counted_release else { return Status::ERROR };
    // SAFETY: the program's own argument.
    unsafe { original(queue) }
}
