//! Signals, pooled: each one that the runtime makes costs an event of the driver.

use super::error::check;
use crate::abi::{CONDITION_LT, Signal, WAIT_BLOCKED};
use crate::tables::Api;
use kreplay_engine::AgentError;
use std::time::Instant;

/// How long one wait inside the runtime lasts, in its ticks (at most 100 ns each): then the deadline is looked at.
const WAIT_TICKS: u64 = 200_000;
/// Loads of a signal before the thread sleeps.
const SPINS: u32 = 256;

/// Signals that are not in use.
pub(super) struct Signals {
    api: Api,
    free: Vec<Signal>,
}

impl Signals {
    pub(super) fn new(api: Api) -> Self {
        Self { api, free: Vec::new() }
    }

    /// A signal of value 1.
    pub(super) fn acquire(&mut self) -> Result<Signal, AgentError> {
        if let Some(signal) = self.free.pop() {
            // SAFETY: pooled signals are live and nobody waits for them.
            unsafe { (self.api.signal_store)(signal, 1) };
            return Ok(signal);
        }
        create(&self.api, 1)
    }

    /// Gives back a signal that nothing will touch any more.
    pub(super) fn release(&mut self, signal: Signal) {
        self.free.push(signal);
    }

    /// Destroys those that are not in use.
    pub(super) fn close(&mut self) {
        for signal in std::mem::take(&mut self.free) {
            // SAFETY: pooled signals are live and nobody waits for them.
            unsafe { (self.api.signal_destroy)(signal) };
        }
    }
}

/// A new signal.
pub(crate) fn create(api: &Api, value: i64) -> Result<Signal, AgentError> {
    let mut signal = Signal::default();
    // SAFETY: no consumers are named; `signal` is a place for the handle.
    check("hsa_signal_create", unsafe { (api.signal_create)(value, 0, std::ptr::null(), &raw mut signal) })?;
    Ok(signal)
}

/// Waits until `signal` is below 1, `stop` says so (its answer is returned), or the deadline has passed.
pub(super) fn wait<T>(
    api: &Api,
    signal: Signal,
    deadline: Instant,
    what: &'static str,
    mut stop: impl FnMut() -> Option<Result<T, AgentError>>,
    done: T,
) -> Result<T, AgentError> {
    let mut spins = 0;
    loop {
        // SAFETY: the caller keeps the signal alive.
        if unsafe { (api.signal_load)(signal) } < 1 {
            return Ok(done);
        }
        if let Some(stopped) = stop() {
            return stopped;
        }
        if spins < SPINS {
            spins += 1;
            std::hint::spin_loop();
            continue;
        }
        if Instant::now() >= deadline {
            return Err(AgentError::Deadline { what });
        }
        // SAFETY: as above.
        unsafe { (api.signal_wait)(signal, CONDITION_LT, 1, WAIT_TICKS, WAIT_BLOCKED) };
    }
}
