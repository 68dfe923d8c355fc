//! Queues of the program: each becomes an intercept queue with a record.

use super::state::{Backend, backend};
use super::{guard, launch};
use crate::abi::{AgentHandle, QUEUE_COOPERATIVE, Queue, Status};
use crate::agent::{Backoff, ProgramWork, QueueWork};
use crate::tables::QueueError;
use kreplay_engine::ClosingReason;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a queue that is destroyed has to show that it is idle: its program may know that a moment before.
const BRIEF: Duration = Duration::from_millis(200);

/// A queue of the program.
pub(crate) struct ProgramQueue {
    /// Its GPU, as an index of [`Backend::units`].
    pub(super) unit: usize,
    /// What it has in flight.
    pub(super) work: Arc<QueueWork>,
    /// Whether work-groups on it may wait for each other across the device.
    pub(super) cooperative: bool,
    handle: AtomicPtr<Queue>,
    packets: AtomicU32,
    callback: QueueError,
    data: *mut c_void,
}

// SAFETY: the program's callback and its data are only handed back to the runtime's callback thread, as the program asked.
unsafe impl Send for ProgramQueue {}
// SAFETY: as above.
unsafe impl Sync for ProgramQueue {}

impl ProgramQueue {
    /// The program's handle.
    pub(super) fn handle(&self) -> *mut Queue {
        self.handle.load(Ordering::Acquire)
    }

    /// Packets that it holds.
    pub(super) fn packets(&self) -> u32 {
        self.packets.load(Ordering::Acquire)
    }
}

unsafe extern "C" fn queue_error(status: Status, source: *mut Queue, data: *mut c_void) {
    // SAFETY: `data` is the record of the queue, which lives as long as the queue.
    let queue = unsafe { &*data.cast::<ProgramQueue>() };
    queue.work.dead.store(true, Ordering::Release);
    if let Some(callback) = queue.callback {
        let handle = queue.handle();
        // SAFETY: the program gave this callback for this queue.
        unsafe { callback(status, if handle.is_null() { source } else { handle }, queue.data) };
    }
}

/// `hsa_queue_create`.
pub(super) unsafe extern "C" fn queue_create(
    agent: AgentHandle,
    size: u32,
    kind: u32,
    callback: QueueError,
    data: *mut c_void,
    private_bytes: u32,
    group_bytes: u32,
    queue: *mut *mut Queue,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let original = || {
        // SAFETY: the program's own arguments.
        unsafe { (backend.api.queue_create)(agent, size, kind, callback, data, private_bytes, group_bytes, queue) }
    };
    // SAFETY: the program's own arguments.
    unsafe { create(backend, agent, size, kind, callback, data, private_bytes, group_bytes, queue, original) }
}

/// `hsa_amd_queue_intercept_create`: another tool's queue, which programs use as any other.
pub(super) unsafe extern "C" fn intercept_create(
    agent: AgentHandle,
    size: u32,
    kind: u32,
    callback: QueueError,
    data: *mut c_void,
    private_bytes: u32,
    group_bytes: u32,
    queue: *mut *mut Queue,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let original = || {
        // SAFETY: the tool's own arguments.
        unsafe { (backend.api.intercept_create)(agent, size, kind, callback, data, private_bytes, group_bytes, queue) }
    };
    // SAFETY: the tool's own arguments.
    unsafe { create(backend, agent, size, kind, callback, data, private_bytes, group_bytes, queue, original) }
}

/// Makes an intercept queue with a record, or what `original` makes where none is needed.
///
/// # Safety
/// The others are arguments that `hsa_queue_create` takes.
#[allow(clippy::too_many_arguments)] // The runtime's.
pub(super) unsafe fn create(
    backend: &'static Backend,
    agent: AgentHandle,
    size: u32,
    kind: u32,
    callback: QueueError,
    data: *mut c_void,
    private_bytes: u32,
    group_bytes: u32,
    queue: *mut *mut Queue,
    original: impl Fn() -> Status,
) -> Status {
    let Some(unit) = backend.units().iter().position(|unit| unit.handle() == agent) else { return original() };
    if !backend.is_on() || queue.is_null() {
        return original();
    }
    guard(
        "hsa_queue_create",
        || {
            let Ok(work) = QueueWork::new(backend.api) else { return original() };
            let record = Box::new(ProgramQueue {
                unit,
                work: Arc::new(work),
                cooperative: kind == QUEUE_COOPERATIVE,
                handle: AtomicPtr::default(),
                packets: AtomicU32::new(0),
                callback,
                data,
            });
            // Without a callback the runtime has its own answer to an error, which ends the process: that stays so.
            let ours: QueueError =
                callback.map(|_| queue_error as unsafe extern "C" fn(Status, *mut Queue, *mut c_void));
            let own_data: *mut c_void = (&raw const *record).cast_mut().cast();
            // SAFETY: the program's own arguments, but for the callback, which is ours and calls the program's.
            let status = unsafe {
                (backend.api.intercept_create)(agent, size, kind, ours, own_data, private_bytes, group_bytes, queue)
            };
            if !status.is_ok() {
                return status;
            }
            // SAFETY: the runtime has just written the handle of a live queue.
            let (handle, packets) = unsafe { (*queue, (**queue).size) };
            record.handle.store(handle, Ordering::Release);
            record.packets.store(packets, Ordering::Release);
            let work = Arc::clone(&record.work);
            // Kept whatever follows: the runtime has its address for errors of the queue.
            backend.queues.keep(handle, record);
            // SAFETY: a live intercept queue; the record outlives it.
            let registered = unsafe { (backend.api.intercept_register)(handle, launch::packets_submitted, own_data) };
            if !registered.is_ok() {
                backend.session.warn(
                    "intercept_register",
                    format!(
                        "a queue cannot be intercepted ({registered}): kernels on it are not profiled and not held back"
                    ),
                );
                return status;
            }
            // Programs that read times of their signals need it, and so do ours. A runtime without is no reason to fail.
            // SAFETY: a live queue.
            unsafe { (backend.api.set_profiler_enabled)(handle, 1) };
            backend.units()[unit].agent.program().add_queue(handle, work);
            status
        },
        || Status::ERROR,
    )
}

/// `hsa_queue_inactivate`: what it had in flight will not finish, as if it were destroyed.
pub(super) unsafe extern "C" fn queue_inactivate(queue: *mut Queue) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let ours = || backend.queues.take(queue);
    let record = if backend.is_on() { guard("hsa_queue_inactivate", ours, || None) } else { None };
    if let Some(record) = &record {
        guard("hsa_queue_inactivate", || backend.queue_goes(record), || ());
    }
    // SAFETY: the program's own argument.
    let status = unsafe { (backend.api.queue_inactivate)(queue) };
    if let Some(record) = record {
        record.work.dead.fetch_or(status.is_ok(), Ordering::AcqRel);
        backend.queues.keep(queue, record);
    }
    status
}

/// `hsa_queue_destroy`.
pub(super) unsafe extern "C" fn queue_destroy(queue: *mut Queue) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let ours = || backend.queues.take(queue);
    let record = if backend.is_forked() { None } else { guard("hsa_queue_destroy", ours, || None) };
    if let Some(record) = record.as_ref().filter(|_| backend.is_on()) {
        guard("hsa_queue_destroy", || backend.queue_goes(record), || ());
    }
    // What a destroyed queue had in flight will not finish: nobody is to wait for it.
    if let Some(record) = &record {
        backend.program(record).remove_queue(queue);
    }
    // SAFETY: the program's own argument.
    let status = unsafe { (backend.api.queue_destroy)(queue) };
    match record {
        Some(record) if status.is_ok() => {
            guard("hsa_queue_destroy", || backend.waits.queue_ends(&record.work), || ());
        }
        Some(record) => {
            backend.program(&record).add_queue(queue, Arc::clone(&record.work));
            backend.queues.keep(queue, record);
        }
        None => {}
    }
    status
}

impl Backend {
    /// A recorded launch may have the queue's address among its hidden arguments, so a window that records ends first. What
    /// the queue still has to do is cut short, and then a replay would do other work.
    fn queue_goes(&self, queue: &ProgramQueue) {
        let unit = &self.units()[queue.unit];
        let (engine, deadline) = (&unit.engine, Instant::now() + BRIEF);
        let mut backoff = Backoff::default();
        while engine.is_recording() && !queue.work.is_idle() {
            if backoff.until(deadline, "a queue that is destroyed").is_err() {
                return engine.give_up_recording("a queue was destroyed that had work left");
            }
        }
        self.end_recording(unit, ClosingReason::Freed);
    }

    fn program(&self, queue: &ProgramQueue) -> &ProgramWork {
        self.units()[queue.unit].agent.program()
    }
}

/// The records of live queues. A record is boxed: the runtime has its address as long as the queue lives.
#[derive(Default)]
pub(crate) struct Queues(Mutex<BTreeMap<u64, Box<ProgramQueue>>>);

impl Queues {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Box<ProgramQueue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, queue: *mut Queue, record: Box<ProgramQueue>) {
        self.lock().insert(queue as u64, record);
    }

    fn take(&self, queue: *mut Queue) -> Option<Box<ProgramQueue>> {
        self.lock().remove(&(queue as u64))
    }
}
