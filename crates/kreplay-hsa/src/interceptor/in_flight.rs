//! Copies in flight: each has a signal of ours, and what is done when that falls.

use super::guard;
use super::recording::Ending;
use super::state::{Backend, backend};
use crate::abi::{CONDITION_LT, ProfilingTime, Signal, Status, set_ticks, ticks};
use crate::agent::create_signal;
use crate::tables::Api;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Copies in flight.
pub(crate) struct Copies {
    api: Api,
    signals: Mutex<Vec<Signal>>,
    /// When copies ran whose completion the program's signal stands for.
    times: Mutex<HashMap<u64, ProfilingTime>>,
}

/// A copy in flight.
pub(super) struct Copy {
    backend: &'static Backend,
    ours: Signal,
    program: Signal,
    /// The GPUs that it touches.
    units: Vec<usize>,
    /// What a batch window that recorded it waits for.
    ending: Ending,
}

impl Copies {
    pub(super) fn new(api: Api) -> Self {
        Self { api, signals: Mutex::default(), times: Mutex::default() }
    }

    /// The program ends: gives pooled signals back to the runtime.
    pub(super) fn close(&self) {
        for signal in std::mem::take(&mut *lock(&self.signals)) {
            // SAFETY: pooled signals are live and nobody waits for them.
            unsafe { (self.api.signal_destroy)(signal) };
        }
    }

    /// A signal of value 1.
    pub(super) fn acquire(&self) -> Option<Signal> {
        let Some(signal) = lock(&self.signals).pop() else { return create_signal(&self.api, 1).ok() };
        // SAFETY: pooled signals are live and nobody waits for them.
        unsafe { (self.api.signal_store)(signal, 1) };
        Some(signal)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Copy {
    /// A copy is about to be submitted with a signal of ours in place of the program's. The engines of the GPUs that it touches are
    /// held: nobody drains them now, who would wait for it.
    pub(super) fn begin(
        backend: &'static Backend,
        ours: Signal,
        program: Signal,
        units: Vec<usize>,
        ending: Ending,
    ) -> Copy {
        for index in &units {
            backend.units()[*index].agent.program().copy_begins();
        }
        Copy { backend, ours, program, units, ending }
    }

    /// The signal that stands for the program's.
    pub(super) fn signal(&self) -> Signal {
        self.ours
    }

    /// What the runtime said to it.
    pub(super) fn settle(self, status: Status) {
        match status.is_ok() {
            true => self.submitted(),
            false => self.refused(),
        }
    }

    /// The runtime has it: it is over when its signal falls.
    fn submitted(self) {
        let (api, ours) = (self.backend.api, self.ours);
        let data: *mut c_void = Box::into_raw(Box::new(self)).cast();
        // SAFETY: the handler has the right signature and takes its data exactly once.
        let watched = unsafe { (api.signal_async_handler)(ours, CONDITION_LT, 1, copied, data) };
        if !watched.is_ok() {
            // No handler: wait here, so that the program's signal falls all the same.
            loop {
                // SAFETY: our signal is live.
                let value = unsafe { (api.signal_wait)(ours, CONDITION_LT, 1, u64::MAX, 0) };
                if value < 1 {
                    // SAFETY: the handler was not taken, so the data is still ours.
                    unsafe { copied(value, data) };
                    break;
                }
            }
        }
    }

    /// The runtime did not take it.
    pub(super) fn refused(self) {
        lock(&self.backend.copies.signals).push(self.ours);
        self.forget();
    }

    fn forget(&self) {
        for index in &self.units {
            self.backend.units()[*index].agent.program().copy_ends();
        }
    }

    fn complete(mut self, value: i64) {
        let ending = std::mem::take(&mut self.ending);
        let Self { backend, ours, program, .. } = self;
        let api = &backend.api;
        if program.handle != 0 {
            let mut time = ProfilingTime::default();
            // SAFETY: our signal is live; `time` is a place for the answer.
            if unsafe { (api.async_copy_time)(ours, &raw mut time) }.is_ok() {
                lock(&backend.copies.times).insert(program.handle, time);
            }
        }
        if value >= 0 {
            ending.succeeded();
        }
        self.forget();
        // SAFETY: the program keeps its signal until the copy has completed; ours is live.
        unsafe {
            set_ticks(program, ticks(ours));
            match program.handle {
                0 => {}
                // The runtime tells a failed copy by a negative value.
                _ if value < 0 => (api.signal_store)(program, value),
                _ => (api.signal_subtract)(program, 1),
            }
        }
        lock(&backend.copies.signals).push(ours);
    }
}

/// The runtime saw our signal fall.
unsafe extern "C" fn copied(value: i64, data: *mut c_void) -> bool {
    // SAFETY: the runtime calls once, with the box that was given to it.
    let copy = unsafe { Box::from_raw(data.cast::<Copy>()) };
    guard("the end of a copy", || copy.complete(value), || ());
    false
}

/// `hsa_amd_profiling_get_async_copy_time`: the program's signal stands for a copy that ran with ours.
pub(super) unsafe extern "C" fn async_copy_time(signal: Signal, time: *mut ProfilingTime) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let ours = || lock(&backend.copies.times).get(&signal.handle).copied();
    let known = if backend.is_forked() { None } else { guard("a copy's time", ours, || None) };
    match known {
        Some(known) if !time.is_null() => {
            // SAFETY: the program's place for the answer.
            unsafe { *time = known };
            Status::SUCCESS
        }
        // SAFETY: the program's own arguments.
        _ => unsafe { (backend.api.async_copy_time)(signal, time) },
    }
}

/// `hsa_signal_destroy`: what was known of the signal is forgotten; its address may be a new signal's.
pub(super) unsafe extern "C" fn signal_destroy(signal: Signal) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    if !backend.is_forked() {
        guard("hsa_signal_destroy", || lock(&backend.copies.times).remove(&signal.handle), || None);
    }
    // SAFETY: the program's own argument.
    unsafe { (backend.api.signal_destroy)(signal) }
}
