//! A CUDA context as the engine's agent.
//!
//! Memory belongs to contexts, so each context is an agent of its own. All work of the agent goes to one stream of its
//! own, which waits for
//! no other; the engine drains the program's streams before a window and settles ours before the program's own launch.

mod backing;
mod boxes;
mod bystanders;
mod digests;
mod drain;
mod freed;
mod guard;
mod marks;
mod neighbours;
mod operations;
mod passes;
mod pause;
mod results;
mod seam;
mod slots;
mod streams;
mod whole;
mod work;
mod writers;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use boxes::{CopyBox, FillRows, Rows};
pub(crate) use bystanders::Bystander;
pub(crate) use guard::{Current, Depth, inside};
pub(crate) use passes::launching_on;
pub(crate) use pause::Pause;
pub(crate) use whole::note_per_thread;
#[cfg(test)]
pub(crate) use whole::{forget_per_thread, per_thread_used};
pub(crate) use work::{CudaWork, Launch, LaunchForm, ParameterLayout, cooperative_attribute, kept_attributes};

use crate::kernels;
use crate::pools::Pools;
use crate::tables::{Context, CudaError, Driver, Function, Stream, device_attribute};
use backing::Backings;
use digests::Digests;
use kreplay_engine::{AgentDescription, AgentError, AgentId, Capabilities};
use marks::Marks;
use slots::Slots;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use streams::Streams;
use whole::Whole;
use writers::Writers;

/// Contexts of the process, kept by the interceptor's map of them. One thread may launch to several, and kernels of a
/// collective wait for each other across them: no launch may be waited for then before the next one.
pub(crate) static CONTEXTS: AtomicUsize = AtomicUsize::new(0);

/// How many there have been.
pub(crate) static CONTEXTS_MADE: AtomicU64 = AtomicU64::new(0);

/// An agent: one context, seen through the driver. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct CudaAgent(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    driver: Arc<Driver>,
    context: Context,
    device: i32,
    uuid: [u8; 16],
    l2_bytes: u64,
    host_pages: bool,
    description: AgentDescription,
    stream: Stream,
    kernels: Kernels,
    /// Blocks that fill the device.
    blocks: u32,
    slots: Mutex<Slots>,
    marks: Mutex<Marks>,
    backings: Mutex<Backings>,
    digests: Mutex<Digests>,
    streams: Mutex<Streams>,
    whole: Whole,
    /// Work of other contexts that may write memory of this one's.
    writers: Mutex<Writers>,
    lost: OnceLock<String>,
    /// The program's stream that the current pass runs on; 0 for our own.
    pass_stream: AtomicU64,
    /// Launches of the program's work so far: its own and ours.
    launches: AtomicU64,
    /// Graphs that the program launched.
    graphs: AtomicU64,
    /// Other work of the program's so far, likewise: copies, sets.
    operations: AtomicU64,
    /// Whether batch windows are worth it.
    records: AtomicBool,
    /// Memory pools, where somebody looks after them.
    pools: OnceLock<Arc<Pools>>,
    /// Memory that is written to flush the cache; 0 until it is needed.
    filler: Mutex<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Kernels {
    copy: Function,
    compare: Function,
    look: Function,
    take: Function,
    give: Function,
    digest: Function,
    synchronise: Function,
    hash: Function,
}

impl CudaAgent {
    /// The agent of `context`: makes its stream and loads its kernels. Called from the first launch on, since nothing may
    /// be called while the driver makes a context.
    ///
    /// # Errors
    /// The driver's, or the compiler's message about the kernels.
    pub(crate) fn new(driver: Arc<Driver>, context: Context, id: AgentId, chip: &str) -> Result<Self, AgentError> {
        let _depth = Depth::enter();
        let _context = guard::Current::enter(&driver, context).map_err(failed)?;
        let device = driver.current_device().map_err(failed)?;
        let name = driver.device_name(device).map_err(failed)?;
        let uuid = driver.device_uuid(device).map_err(failed)?;
        let attribute = |attribute| driver.device_attribute(attribute, device).map_err(failed);
        let processors = attribute(device_attribute::MULTIPROCESSORS)?.max(1) as u32;
        let l2_bytes = attribute(device_attribute::L2_BYTES)?.max(0) as u64;
        // Drivers before CUDA 8 do not know the question, nor the feature.
        let host_pages = attribute(device_attribute::PAGEABLE_ACCESS).unwrap_or(0) != 0;
        let stream = driver.create_stream().map_err(failed)?;
        let module = driver.load_module(kernels::PTX).map_err(|(error, log)| AgentError::Failed {
            call: error.call,
            status: if log.is_empty() { error.to_string() } else { format!("{error}: {log}") },
        })?;
        let function = |name| driver.module_function(module, name).map_err(failed);
        let kernels = Kernels {
            copy: function(kernels::COPY)?,
            compare: function(kernels::COMPARE)?,
            look: function(kernels::LOOK)?,
            take: function(kernels::TAKE)?,
            give: function(kernels::GIVE)?,
            digest: function(kernels::DIGEST)?,
            synchronise: function(kernels::SYNCHRONISE)?,
            hash: function(kernels::HASH)?,
        };
        let capabilities = Capabilities { observe: true };
        let description = AgentDescription { id, name, chip: chip.into(), simulated: false, capabilities };
        let agent = Self(Arc::new(Inner {
            driver: Arc::clone(&driver),
            context,
            device,
            uuid,
            l2_bytes,
            host_pages,
            description,
            stream,
            kernels,
            blocks: processors * 8,
            slots: Mutex::default(),
            marks: Mutex::default(),
            backings: Mutex::default(),
            digests: Mutex::default(),
            streams: Mutex::default(),
            whole: Whole::default(),
            writers: Mutex::default(),
            lost: OnceLock::new(),
            pass_stream: AtomicU64::new(0),
            launches: AtomicU64::new(0),
            graphs: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            records: AtomicBool::new(false),
            pools: OnceLock::new(),
            filler: Mutex::new(0),
        }));
        agent.enter_device();
        Ok(agent)
    }

    /// Its number, which no other agent has.
    pub(crate) fn id(&self) -> AgentId {
        self.0.description.id
    }

    /// The driver.
    pub(crate) fn driver(&self) -> &Driver {
        &self.0.driver
    }

    /// The context.
    pub(crate) fn context(&self) -> Context {
        self.0.context
    }

    /// The device's ordinal.
    pub(crate) fn device(&self) -> i32 {
        self.0.device
    }

    /// The device's number of 16 bytes, the same in every process.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        self.0.uuid
    }

    /// Bytes of the second-level cache.
    pub(crate) fn l2_bytes(&self) -> u64 {
        self.0.l2_bytes
    }

    /// Whether kernels can use the pages of their process, that no call of the driver told of (HMM, ATS).
    pub(crate) fn uses_host_pages(&self) -> bool {
        self.0.host_pages
    }

    /// The agent's own stream.
    pub(crate) fn stream(&self) -> Stream {
        self.0.stream
    }

    /// Launches so far of what the program launched: by it, and again by us.
    pub(crate) fn launches(&self) -> u64 {
        self.0.launches.load(Ordering::Relaxed)
    }

    /// One more.
    pub(crate) fn note_launch(&self) {
        self.0.launches.fetch_add(1, Ordering::Relaxed);
    }

    /// Graphs so far that the program launched.
    pub(crate) fn graphs(&self) -> u64 {
        self.0.graphs.load(Ordering::Relaxed)
    }

    /// One more. Its kernels are no launches: ranges do not count them one by one.
    pub(crate) fn note_graph(&self) {
        self.0.graphs.fetch_add(1, Ordering::Relaxed);
    }

    /// An operation of the program's that is no launch is submitted, by it or again by us.
    pub(crate) fn note_operation(&self) {
        self.0.operations.fetch_add(1, Ordering::Relaxed);
    }

    /// Launches, graphs and other operations of the program's work so far.
    pub(crate) fn submissions(&self) -> u64 {
        self.launches() + self.graphs() + self.0.operations.load(Ordering::Relaxed)
    }

    /// Whether windows hold many dispatches where the user leaves the choice.
    pub(crate) fn set_records(&self, records: bool) {
        self.0.records.store(records, Ordering::Relaxed);
    }

    /// These pools hold what the program frees to them within a batch window.
    pub(crate) fn set_pools(&self, pools: Arc<Pools>) {
        let _ = self.0.pools.set(pools);
    }

    /// Whether work that runs again may use memory that the program has freed to a pool. The driver's own copies are not to
    /// be relied on there: for it the addresses are nobody's.
    fn uses_freed(&self) -> bool {
        self.0.pools.get().is_some_and(|pools| pools.any_held())
    }

    /// A library's module in the agent's context; `None` when it is not loaded there.
    pub(crate) fn library_module(&self, library: *mut std::ffi::c_void) -> Option<crate::tables::Module> {
        let _entered = self.enter().ok()?;
        self.0.driver.library_module(library).ok()
    }

    /// Makes calls from this thread the agent's: the context is current and callbacks are not ours to look at.
    ///
    /// # Errors
    /// [`AgentError::Lost`] once a fault of the context was seen.
    pub(crate) fn enter(&self) -> Result<guard::Entered<'_>, AgentError> {
        if let Some(message) = self.0.lost.get() {
            return Err(AgentError::Lost(message.clone()));
        }
        let depth = Depth::enter();
        let current = guard::Current::enter(&self.0.driver, self.0.context).map_err(|error| self.error(error))?;
        Ok(guard::Entered::new(depth, current))
    }

    /// Puts the contexts of this thread aside. Calls from it are ours already.
    pub(crate) fn apart(&self) -> guard::Apart<'_> {
        guard::Apart::enter(&self.0.driver)
    }

    /// The engine's error for one of the driver's; remembers what cannot be undone.
    pub(crate) fn error(&self, error: CudaError) -> AgentError {
        if error.is_sticky() {
            let message = error.to_string();
            return AgentError::Lost(self.0.lost.get_or_init(|| message).clone());
        }
        failed(error)
    }
}

/// A failed call that says nothing about the device's health.
fn failed(error: CudaError) -> AgentError {
    AgentError::Failed { call: error.call, status: format!("{} ({})", error.name, error.status) }
}

/// Locks what a panicking thread may have left: every change under these locks is complete in itself.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
