//! What the program does, seen through CUPTI's callbacks.
//!
//! Callbacks run on the program's thread, before (*enter*) and after (*exit*) a call of the driver; the call itself cannot
//! be left out. A kernel window therefore runs all passes but the last in *enter*, the program's own launch is the last
//! pass, and *exit* closes the window. What *enter* began waits for its *exit* on a stack of the thread.
//!
//! Calls that we make ourselves come back as callbacks too; a depth counter of the thread tells them apart. While a stream
//! is being captured anywhere in the process nothing of ours may allocate or wait, so launches decline.

mod ahead;
mod allocations;
mod attributes;
mod call;
mod callback;
mod captures;
mod code;
mod context;
mod contexts;
mod copies;
mod end;
mod foreign;
mod forked;
mod graphics;
mod graphs;
mod host_pages;
mod host_writes;
mod ids;
mod ipc;
mod launch;
mod live;
mod mappings;
mod newer;
mod operation_streams;
mod operations;
mod peers;
mod pending;
mod pool_places;
mod pools;
mod recent;
mod start;
mod unready;
mod unseen;

#[cfg(test)]
mod tests;

pub(crate) use end::before_others_at_exit;
pub(crate) use forked::OwnFile;
#[cfg(test)]
pub(crate) use forked::testing as forked_testing;
#[cfg(test)]
pub(crate) use ids::enabled as enabled_callbacks;
#[cfg(not(test))]
use kreplay_session::loader_is_free;
pub use start::initialize_injection;
#[cfg(test)]
use tests::loader_is_free;

use crate::agent::CudaAgent;
use crate::pools::Pools;
use crate::tables::{Context, Driver};
use context::{ContextState, Driven};
use contexts::Contexts;
use kreplay_engine::{ClosingReason, Counters, Plan, Process};
use live::Live;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// Makes the counters of an agent; `None` when it counts nothing.
pub(crate) type MakeCounters = dyn Fn(&CudaAgent) -> Option<Arc<dyn AgentCounters>> + Send + Sync;

/// Counters with what only this backend needs of them.
pub(crate) trait AgentCounters: Counters {
    /// The program's own launch was submitted to its stream, which [`CudaAgent::set_pass_stream`] names.
    fn launched(&self);
    /// The context is about to go.
    fn close(&self);
    /// Whether a counted launch is waited for before the program can go on.
    fn waits(&self) -> bool;
    /// No window was opened yet: does what the first one of this plan begins with, for about so many dispatches, if that takes
    /// long and nobody else uses the hardware. The context is the thread's.
    fn prepare(&self, plan: &Plan, dispatches: u32);
}

/// Everything the interceptor knows. One in a process.
pub(crate) struct Interceptor {
    driver: Arc<Driver>,
    process: Arc<Process>,
    alive: Arc<AtomicBool>,
    warn: Box<dyn Fn(&'static str, String) + Send + Sync>,
    make_counters: Box<MakeCounters>,
    chip: Box<dyn Fn(i32) -> Arc<str> + Send + Sync>,
    /// Whether windows hold many dispatches where the user leaves the choice.
    records: bool,
    /// Has [`Interceptor::get_ready`] called for a context, beside the program; `None`: the first launch does it.
    ready: Option<Box<dyn Fn(Context) + Send + Sync>>,
    contexts: Contexts,
    live: Mutex<Live>,
    captures: captures::Captures,
    /// Live surface objects: arrays behind them cannot be put back.
    surfaces: Mutex<HashSet<u64>>,
    /// Modules have surfaces of their own, which no argument shows.
    surface_references: AtomicBool,
    agents: AtomicU64,
    graphs: Mutex<graphs::Graphs>,
    graphics: Mutex<graphics::Mapped>,
    pools: Arc<Pools>,
    pool_places: pool_places::PoolPlaces,
    mappings: Mutex<mappings::Mappings>,
    opened: ipc::Opened,
    attributes: attributes::Attributes,
    host_writes: host_writes::HostWrites,
    newer: newer::Newer,
    /// Other devices may use memory of pools.
    pools_shared: AtomicBool,
    /// Ends what is open when the command has gone.
    parting: Once,
}

impl Interceptor {
    /// An interceptor that reports to engines of `process`.
    pub(crate) fn new(
        driver: Arc<Driver>,
        process: Arc<Process>,
        alive: Arc<AtomicBool>,
        warn: Box<dyn Fn(&'static str, String) + Send + Sync>,
        make_counters: Box<MakeCounters>,
        chip: Box<dyn Fn(i32) -> Arc<str> + Send + Sync>,
        records: bool,
    ) -> Self {
        recent::forget();
        Self {
            pools: Arc::new(Pools::new(Arc::clone(&driver))),
            driver,
            process,
            alive,
            warn,
            make_counters,
            chip,
            records,
            ready: None,
            contexts: Contexts::default(),
            live: Mutex::default(),
            captures: captures::Captures::default(),
            surfaces: Mutex::default(),
            surface_references: AtomicBool::new(false),
            agents: AtomicU64::new(0),
            graphs: Mutex::default(),
            graphics: Mutex::default(),
            pool_places: pool_places::PoolPlaces::default(),
            mappings: Mutex::default(),
            opened: ipc::Opened::default(),
            attributes: attributes::Attributes::default(),
            host_writes: host_writes::HostWrites::default(),
            newer: newer::Newer::default(),
            pools_shared: AtomicBool::new(false),
            parting: Once::new(),
        }
    }

    /// The same, getting contexts ready before their first launch by calling this.
    pub(crate) fn with_ready(mut self, ready: Box<dyn Fn(Context) + Send + Sync>) -> Self {
        self.ready = Some(ready);
        self
    }

    /// Whether anybody wants records: one relaxed load.
    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }

    /// What is known of a context; it is made when it was not seen before.
    fn context(&self, context: Context) -> Arc<ContextState> {
        if let Some(known) = self.contexts.get(context) {
            return known;
        }
        // Under the lock of `live`, so that a region born meanwhile is known to the new context too, and only once.
        let live = locked(&self.live);
        self.contexts.get_or_make(context, || {
            let state = ContextState::new(context);
            live.seen_from(context).for_each(|region| state.region_born(region));
            state
        })
    }

    /// A context goes; what was known of it.
    fn forget_context(&self, context: Context) -> Option<Arc<ContextState>> {
        self.contexts.remove(context)
    }

    fn all_contexts(&self) -> Vec<Arc<ContextState>> {
        self.contexts.all()
    }

    /// Does something for every context that has an engine.
    fn each_driven(&self, act: impl Fn(&Driven)) {
        self.all_contexts().iter().filter_map(|state| state.driven()).for_each(act);
    }

    /// Closes the batch windows of every context.
    fn close_windows(&self, reason: ClosingReason) {
        self.each_driven(|driven| driven.engine.close_window_for(reason));
    }

    /// A context begins to use a device (`None`: nobody knows which): windows of others that count as the program goes on, and keep the
    /// counters meanwhile, end.
    fn end_beside(&self, device: Option<i32>, context: Context) {
        self.each_driven(|driven| {
            if device.is_none_or(|device| driven.agent.device() == device) && driven.agent.context() != context {
                driven.engine.end_counting(ClosingReason::Agent);
            }
        });
    }

    /// As [`Interceptor::close_windows`], but windows of a single pass go on: nothing is launched again in them.
    fn end_recordings(&self, reason: ClosingReason) {
        self.each_driven(|driven| {
            driven.spare_the_loader();
            driven.engine.end_recording(reason);
        });
    }

    /// Nobody wants records any more, and nothing is looked at from now on: what the program frees would be gone when a window
    /// that is open is replayed. So none is replayed. Other threads wait.
    fn part(&self) {
        // Then no window is open, and nothing may be freed; the capture's end comes here too.
        if self.capturing() {
            return;
        }
        self.parting.call_once(|| {
            let _depth = crate::agent::Depth::enter();
            for state in self.all_contexts() {
                state.part();
            }
        });
    }

    /// Whether some stream of the process is being captured.
    fn capturing(&self) -> bool {
        self.captures.any()
    }

    /// The process ends: windows close, readings are handed over.
    pub(crate) fn finish(&self) {
        for context in self.all_contexts() {
            context.finish();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
