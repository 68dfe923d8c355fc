//! The device: one for the process, made on first use.
//!
//! # Environment
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `SOFTGPU_MEMORY_MIB` | device memory; allocations beyond it fail as on a real GPU | 4096 |
//! | `SOFTGPU_LARGE_BAR` | `1`: the host can reach all device memory, as on most machines with such a GPU, and HIP writes small copies to the device without any packet or call that could be seen; `0`: it cannot, and every copy is a packet | 1 |
//! | `SOFTGPU_SEED` | seed of the order of work-groups and waves | natural order |
//! | `SOFTGPU_THREADS` | host threads of one dispatch | cores of the host |
//! | `SOFTGPU_TRACE` | file for one JSON line a packet: `{"queue","kind","kernel_object","ns"}` | none |
//! | `SOFTGPU_ORACLE` | file for one JSON line a completed dispatch, with its exact write set (see [`oracle`]) | none |
//! | `SOFTGPU_FAULT` | faults to put in (see [`crate::fault`]) | none |
//!
//! A variable that cannot be read as what it should be keeps the device from opening, with one line on stderr.

mod clock;
mod config;
pub mod oracle;
mod trace;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use clock::now_ns;
pub use config::{Config, ConfigError};
pub use trace::Trace;

use crate::event::{Events, Mailboxes};
use crate::fault::Faults;
use crate::memory::AddressSpace;
use crate::pmc::CounterBank;
use crate::queue::Queues;
use crate::sampling::Sampler;

/// Everything that the GPU is made of.
#[derive(Debug)]
pub struct Device {
    /// Settings.
    pub config: Config,
    /// Memory.
    pub memory: AddressSpace,
    /// Events.
    pub events: Events,
    /// Where the GPU writes event numbers.
    pub mailboxes: Mailboxes,
    /// Queues.
    pub queues: Queues,
    /// Simulated counters, shared by all queues.
    pub counters: CounterBank,
    /// The same counters as a stream of samples.
    pub sampler: Sampler,
    /// Faults put in.
    pub faults: Faults,
    /// The write oracle's records.
    pub oracle: oracle::Oracle,
    /// The packet trace.
    pub trace: Trace,
    /// What happened so far.
    pub totals: Totals,
}

/// Counts over the device's life.
#[derive(Debug, Default)]
pub struct Totals {
    /// Dispatches begun; also the source of their ids.
    pub dispatches: AtomicU64,
    /// Dispatches that completed.
    pub completed: AtomicU64,
    /// Queue errors and memory faults raised.
    pub errors: AtomicU64,
}

impl Device {
    /// Makes a device with these settings.
    ///
    /// # Errors
    /// [`ConfigError`] when a file cannot be opened or the host has no memory.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let memory = AddressSpace::new(config.memory_bytes).reaching_process(config.xnack);
        let mailboxes = Mailboxes::new(&memory)?;
        let faults = Faults::default();
        faults.inject(config.faults.clone());
        Ok(Self {
            oracle: oracle::Oracle::new(config.oracle.as_deref())?,
            trace: Trace::new(config.trace.as_deref())?,
            memory,
            mailboxes,
            faults,
            config,
            counters: CounterBank::new(),
            sampler: Sampler::new(now_ns),
            events: Events::default(),
            queues: Queues::default(),
            totals: Totals::default(),
        })
    }

    /// The process's device, made from the environment on first use.
    ///
    /// # Errors
    /// [`ConfigError`] as [`Device::new`], or for an environment variable that makes no sense; the next call tries again.
    pub fn global() -> Result<Arc<Self>, ConfigError> {
        static MADE: OnceLock<Arc<Device>> = OnceLock::new();
        static MAKING: Mutex<()> = Mutex::new(());
        if let Some(device) = MADE.get() {
            return Ok(Arc::clone(device));
        }
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = MADE.get() {
            return Ok(Arc::clone(device));
        }
        let device = Arc::new(Self::new(Config::from_environment()?)?);
        Ok(Arc::clone(MADE.get_or_init(|| device)))
    }
}

/// Says something to the user: one line on stderr.
pub fn say(message: &dyn std::fmt::Display) {
    use std::io::Write;
    // Nothing can be done where stderr is closed.
    let _ = writeln!(std::io::stderr(), "softgpu: {message}");
}
