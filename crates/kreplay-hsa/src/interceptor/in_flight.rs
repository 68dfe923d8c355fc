//! Copies in flight: each has a signal of ours, and what is done when that falls.

use super::guard;
use super::recording::Ending;
use super::state::{Backend, backend};
use crate::abi::{CONDITION_LT, ProfilingTime, Signal, Status, set_ticks, ticks};
use crate::agent::{Flight, Work, create_signal};
use crate::tables::Api;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

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
    ending: Mutex<Ending>,
    /// What barriers that wait for it wait for.
    lowers: Work,
    /// Done by whoever sees our signal fall first: the runtime's thread, or one that waits for copies. The former may be held up by
    /// a handler of the program's.
    completed: Once,
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
    ) -> Arc<Copy> {
        let (ending, lowers) = (Mutex::new(ending), Work::other());
        if backend.waits.lowers(&lowers, program) {
            backend.overtaken();
        }
        let copy = Arc::new(Copy { backend, ours, program, units, ending, lowers, completed: Once::new() });
        for index in &copy.units {
            backend.units()[*index].agent.program().copy_begins(Arc::clone(&copy) as Arc<dyn Flight>);
        }
        copy
    }

    /// The signal that stands for the program's.
    pub(super) fn signal(&self) -> Signal {
        self.ours
    }

    /// What the runtime said to it.
    pub(super) fn settle(self: Arc<Self>, status: Status) {
        match status.is_ok() {
            true => self.submitted(),
            false => self.forget(),
        }
    }

    /// The runtime has it: it is over when its signal falls.
    fn submitted(self: Arc<Self>) {
        let (api, ours) = (self.backend.api, self.ours);
        let data: *mut c_void = Arc::into_raw(self).cast_mut().cast();
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

    /// It is over, or the runtime did not take it: nobody uses our signal any more.
    pub(super) fn forget(self: Arc<Self>) {
        let (copies, ours) = (&self.backend.copies, self.ours);
        self.leave();
        lock(&copies.signals).push(ours);
    }

    /// Nobody is to wait for it any more.
    fn leave(self: Arc<Self>) {
        self.lowers.end();
        let units = self.units.clone();
        let (backend, flight) = (self.backend, self as Arc<dyn Flight>);
        for index in units {
            backend.units()[index].agent.program().copy_ends(&flight);
        }
    }

    /// Our signal has fallen to `value`.
    fn completes(&self, value: i64) {
        self.completed.call_once(|| guard("the end of a copy", || self.complete(value), || ()));
    }

    fn complete(&self, value: i64) {
        let ending = std::mem::take(&mut *lock(&self.ending));
        let Self { backend, ours, program, .. } = *self;
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
        self.lowers.end();
    }
}

impl Flight for Copy {
    fn look(&self) -> bool {
        // SAFETY: our signal is used again only after the copy was taken out of the lists.
        let value = unsafe { (self.backend.api.signal_load)(self.ours) };
        if value < 1 {
            self.completes(value);
        }
        value < 1
    }
}

/// The runtime saw our signal fall.
unsafe extern "C" fn copied(value: i64, data: *mut c_void) -> bool {
    // SAFETY: the runtime calls once, with the reference that was given to it.
    let copy = unsafe { Arc::from_raw(data.cast::<Copy>()) };
    copy.completes(value);
    // Given back only now: until it has called, the runtime watches the signal.
    guard("the end of a copy", || copy.forget(), || ());
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
        let ours = || {
            lock(&backend.copies.times).remove(&signal.handle);
            backend.waits.forget(signal);
        };
        guard("hsa_signal_destroy", ours, || ());
    }
    // SAFETY: the program's own argument.
    unsafe { (backend.api.signal_destroy)(signal) }
}
