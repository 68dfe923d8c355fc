//! A GPU behind the HSA runtime, as the engine drives it.
//!
//! ```text
//!   Agent ── copy, compare, synchronise, hash ─▶ tasks (tables of ranges) ─▶ kernels ┐
//!         ── submit (recorded dispatch) ────────▶ work ───────────────────────────────┼─▶ ring: one queue of our own
//!         ── answer, settle ────────────────────▶ own (signals, scratch, answers) ◀──┘
//!         ── drain ─────────────────────────────▶ program (what the program has in flight), waits (what its barriers wait for)
//! ```
//!
//! Everything goes through one plain queue, made with the runtime's own functions, so that it is neither intercepted nor
//! seen by the program. Each packet on it has the barrier bit and system fences: the order of the calls is the order on
//! the device. The queue is made at first use, not when the library is loaded: the runtime sets up its trap handler
//! only after the tools.
//!
//! On a chip without device kernels there is no compare, synchronise or hash
//! ([`Capabilities::observe`](kreplay_engine::Capabilities) is false): copies are then the runtime's own.

mod backing;
#[cfg(test)]
mod conformance;
mod drain;
mod error;
mod kernels;
mod marks;
mod operations;
mod own;
mod passes;
mod pools;
mod program;
mod queue_work;
mod results;
mod ring;
mod scratch;
mod seam;
mod signals;
mod tasks;
mod waits;
mod work;

pub use work::HsaWork;
pub(crate) use work::{Saved, Valid};

pub(crate) use pools::{PoolInfo, pools_of};
pub(crate) use program::{Backoff, Flight, ProgramWork};
pub(crate) use queue_work::QueueWork;
pub(crate) use signals::create as create_signal;
pub(crate) use waits::{Waits, Work};

use crate::abi::{AgentHandle, Packet, Signal, Ticks};
use crate::tables::Api;
use kreplay_engine::{AgentError, AgentId};
use own::{Own, OwnGuard};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is known of a GPU when the library is loaded.
#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    /// Its handle.
    pub(crate) handle: AgentHandle,
    /// Chip (`gfx90a`).
    pub(crate) chip: String,
    /// Product.
    pub(crate) product: String,
    /// Whether it is the software GPU.
    pub(crate) simulated: bool,
    /// Compute units.
    pub(crate) units: u32,
    /// Its coarse-grained pool.
    pub(crate) device: PoolInfo,
    /// A pool of host memory.
    pub(crate) host: PoolInfo,
    /// How long counters may wait for it.
    pub(crate) patience: Duration,
}

/// A GPU behind the HSA runtime. See the module.
pub struct HsaAgent {
    api: Api,
    id: AgentId,
    gpu: Gpu,
    own: Mutex<Option<Own>>,
    program: ProgramWork,
    /// Packets on the agent's own queue that only waited for others.
    waits: AtomicU64,
    /// Bytes that the program and the engine have of the device's pool.
    used: AtomicU64,
}

impl HsaAgent {
    pub(crate) fn new(api: Api, id: AgentId, gpu: Gpu, waits: Arc<Waits>) -> Self {
        Self {
            api,
            id,
            gpu,
            own: Mutex::new(None),
            program: ProgramWork::new(waits),
            waits: AtomicU64::new(0),
            used: AtomicU64::new(0),
        }
    }

    /// What the program has in flight.
    pub(crate) fn program(&self) -> &ProgramWork {
        &self.program
    }

    /// The runtime's handle.
    pub(crate) fn handle(&self) -> AgentHandle {
        self.gpu.handle
    }

    /// How long counters may wait for it.
    fn patience(&self) -> Duration {
        self.gpu.patience
    }

    /// The chip (`gfx90a`).
    pub(crate) fn chip(&self) -> &str {
        &self.gpu.chip
    }

    fn own(&self) -> Result<OwnGuard<'_>, AgentError> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = Some(Own::new(self.api, self.gpu.handle, &self.gpu.chip, &self.gpu.host)?);
        }
        Ok(OwnGuard::new(own))
    }

    /// Runs the program's own launch on the agent's own queue, waits for it, and tells when it ran. When it is still
    /// running at the deadline the signal that it will lower comes with the error.
    pub(crate) fn run_last(&self, packet: Packet, deadline: Instant) -> Result<Ticks, (AgentError, Option<Signal>)> {
        self.own().map_err(|error| (error, None))?.run_last(packet, deadline)
    }

    /// Gives everything back to the runtime, at the program's end. What is asked afterwards starts anew.
    pub(crate) fn close(&self, deadline: Instant) {
        if self.program.drain(deadline).is_ok() {
            self.program.close();
        }
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(own) = own {
            own.close(deadline);
        }
    }
}
