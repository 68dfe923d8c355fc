//! The counters of one device.

use super::event::EVENTS;
use super::ib::{self, Command};
use super::select::{Selected, Selection};
use crate::contract::{BadAddress, ExecStats, Fault, Memory};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counter hardware of a device. All methods may be called from any thread.
#[derive(Debug)]
pub struct CounterBank {
    state: Mutex<State>,
}

/// One number for each of [`EVENTS`].
type Totals = [u64; EVENTS.len()];

#[derive(Debug)]
struct State {
    /// What all dispatches of the device have added, counting or not.
    totals: Totals,
    selection: Selection,
    counting: Counting,
}

#[derive(Debug)]
enum Counting {
    /// Nothing was started yet.
    Never,
    /// Since these totals.
    Since(Totals),
    /// Counters stand still at these values.
    Stopped(Totals),
}

impl Default for CounterBank {
    fn default() -> Self {
        Self::new()
    }
}

impl CounterBank {
    /// Counters that nobody has started.
    pub fn new() -> Self {
        let state = State { totals: [0; EVENTS.len()], selection: Selection::default(), counting: Counting::Never };
        Self { state: Mutex::new(state) }
    }

    /// Adds what a dispatch did. To be called when it has completed, before its completion can be seen.
    pub fn accumulate(&self, stats: &ExecStats) {
        let mut state = self.lock();
        for (total, event) in state.totals.iter_mut().zip(EVENTS) {
            *total = total.wrapping_add((event.of)(stats));
        }
    }

    /// Executes an indirect buffer ([`ib`]): all of it, or nothing when it holds anything unknown.
    ///
    /// # Errors
    /// [`Fault::BadDispatch`] for a packet that is not known, for events that do not exist or do not fit the slots, and
    /// for a read of events that were not started. [`Fault::BadAddress`] when the output is not mapped, with `pc` 0.
    pub fn execute_ib(&self, words: &[u32], memory: &dyn Memory) -> Result<(), Fault> {
        for command in ib::decode(words)? {
            self.execute(command, memory)?;
        }
        Ok(())
    }

    fn execute(&self, command: Command, memory: &dyn Memory) -> Result<(), Fault> {
        let mut state = self.lock();
        match command {
            Command::Start(events) => {
                state.selection = Selection::new(&events).map_err(|error| Fault::BadDispatch(error.to_string()))?;
                state.counting = Counting::Since(state.totals);
            }
            Command::Read { output, events } => {
                let values = state.values(&events)?;
                drop(state);
                store(memory, output, &values)?;
            }
            Command::Stop => {
                if let Counting::Since(_) = state.counting {
                    state.counting = Counting::Stopped(state.counted());
                }
            }
            Command::Enable | Command::Disable => {}
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held cannot leave it half changed: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What the counters would show, were every event selected.
    fn counted(&self) -> Totals {
        match &self.counting {
            Counting::Never => [0; EVENTS.len()],
            Counting::Since(base) => std::array::from_fn(|at| self.totals[at].wrapping_sub(base[at])),
            Counting::Stopped(values) => *values,
        }
    }

    fn values(&self, events: &[Selected]) -> Result<Vec<u64>, Fault> {
        if events != self.selection.events() {
            return Err(Fault::BadDispatch(
                "a read of counters names other events than those that were started".to_owned(),
            ));
        }
        let counted = self.counted();
        let mut values = Vec::with_capacity(self.selection.samples());
        for (event, block, index, sim) in self.selection.resolved() {
            for sample in 0..block.samples() {
                let cell = block.cell(event.instance, sample);
                values.push(cell.map_or(0, |cell| sim.cell(counted[index], cell, block)));
            }
        }
        Ok(values)
    }
}

/// Stores `values` at the GPU address `output`, little endian.
fn store(memory: &dyn Memory, output: u64, values: &[u64]) -> Result<(), Fault> {
    let bytes = size_of_val(values) as u64;
    if bytes == 0 {
        return Ok(());
    }
    let fault = |access: BadAddress| Fault::BadAddress { pc: 0, access };
    let target = memory.host(output, bytes, true).map_err(fault)?;
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    // SAFETY: `host` answers for `bytes` writable bytes at `target`; `raw` has as many and is our own.
    unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), target, raw.len()) };
    Ok(())
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
