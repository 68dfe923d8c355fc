//! Copies and fills that the program asks the runtime for.
//!
//! A copy must not fall into a window of another thread, and a window must not open over a copy in flight. So a copy is
//! submitted under the engine's guard with a completion signal of ours; when that falls, the program's signal is given
//! the same times and falls too. Signals cannot be watched instead: the program may reset one as soon as it has seen it
//! fall.

use super::guard;
use super::recording::{Effect, Ending};
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, CONDITION_LT, Dim3, PitchedPointer, ProfilingTime, Signal, Status, set_ticks, ticks};
use crate::agent::{HsaAgent, create_signal};
use crate::tables::Api;
use kreplay_engine::{Range, RegionKind, RunGuard};
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

    fn acquire(&self) -> Option<Signal> {
        let Some(signal) = lock(&self.signals).pop() else { return create_signal(&self.api, 1).ok() };
        // SAFETY: pooled signals are live and nobody waits for them.
        unsafe { (self.api.signal_store)(signal, 1) };
        Some(signal)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A copy that is about to be submitted.
struct Begun {
    units: Vec<usize>,
    held: Vec<RunGuard<HsaAgent>>,
    /// The signal that stands for the program's, and what is done when it falls. Without a signal of ours nobody knows when
    /// the copy has ended.
    watched: Option<(Signal, Ending)>,
}

impl Backend {
    /// The GPUs that a copy between these agents' memories touches.
    fn touched(&self, agents: &[AgentHandle]) -> Vec<usize> {
        (0..self.units().len()).filter(|index| agents.contains(&self.units()[*index].handle())).collect()
    }

    /// The GPU whose memory an address is, also where no call told of it: that of variables.
    fn owner(&self, address: u64) -> Option<usize> {
        match self.allocations.around(address) {
            Some(allocation) => allocation.owner,
            None => {
                let owner = self.pointer(address)?.owner;
                self.units().iter().position(|unit| unit.handle() == owner)
            }
        }
    }

    /// Holds the engines of these GPUs while something is submitted that writes `written`. `effect` tells what that does,
    /// where it is done by one of them.
    pub(super) fn hold(
        &self,
        units: &[usize],
        written: Range,
        effect: impl Fn(usize) -> Effect,
    ) -> (Vec<RunGuard<HsaAgent>>, Ending) {
        if let [unit] = units {
            let (held, ending) = self.hold_for(*unit, effect(*unit), written);
            return (vec![held], ending);
        }
        let held: Vec<_> = units.iter().map(|index| self.units()[*index].engine.operation()).collect();
        for unit in self.units() {
            unit.agent.program().submits();
            unit.engine.region_written(written);
        }
        (held, Ending::default())
    }

    /// What comes before a copy is submitted. `None` where nothing of ours has to do with it.
    fn begin(&self, agents: &[AgentHandle], written: Range, effect: impl Fn(usize) -> Effect) -> Option<Begun> {
        let units = self.touched(agents);
        if units.is_empty() || !self.is_on() {
            return None;
        }
        let Some(ours) = self.copies.acquire() else {
            let (held, _) = self.hold(&units, written, |_| Effect::Other);
            return Some(Begun { units, held, watched: None });
        };
        let (held, ending) = self.hold(&units, written, effect);
        for index in &units {
            self.units()[*index].agent.program().copy_begins();
        }
        Some(Begun { units, held, watched: Some((ours, ending)) })
    }

    /// [`Backend::copy`] of one piece: from where to where, each with its agent.
    fn linear_copy(
        &'static self,
        (to, to_agent): (u64, AgentHandle),
        (from, from_agent): (u64, AgentHandle),
        bytes: u64,
        completion: Signal,
        original: impl Fn(Signal) -> Status,
    ) -> Status {
        let effect = |unit| self.effect(unit, to, from, bytes);
        self.copy(&[to_agent, from_agent], Range::new(to, bytes), effect, completion, original)
    }

    /// Submits a copy; `original` is given the completion signal to use.
    fn copy(
        &'static self,
        agents: &[AgentHandle],
        written: Range,
        effect: impl Fn(usize) -> Effect,
        completion: Signal,
        original: impl Fn(Signal) -> Status,
    ) -> Status {
        let begun = guard("the beginning of a copy", || self.begin(agents, written, effect), || None);
        let Some(Begun { units, held, watched }) = begun else { return original(completion) };
        let Some((ours, ending)) = watched else {
            let status = original(completion);
            drop(held);
            return status;
        };
        let status = original(ours);
        let copy = Copy { backend: self, ours, program: completion, units, ending };
        match status.is_ok() {
            true => copy.submitted(),
            false => copy.refused(),
        }
        drop(held);
        status
    }
}

impl Copy {
    /// A copy with this signal of the program's is about to be submitted.
    pub(super) fn begin(backend: &'static Backend, program: Signal, units: &[usize]) -> Option<Copy> {
        let ours = backend.copies.acquire()?;
        for index in units {
            backend.units()[*index].agent.program().copy_begins();
        }
        Some(Copy { backend, ours, program, units: units.to_vec(), ending: Ending::default() })
    }

    /// The signal that stands for the program's.
    pub(super) fn signal(&self) -> Signal {
        self.ours
    }

    /// The runtime has it: it is over when its signal falls.
    pub(super) fn submitted(self) {
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

/// `hsa_amd_memory_async_copy`.
#[allow(clippy::too_many_arguments)] // The runtime's signature.
pub(super) unsafe extern "C" fn async_copy(
    to: *mut c_void,
    to_agent: AgentHandle,
    from: *const c_void,
    from_agent: AgentHandle,
    bytes: usize,
    count: u32,
    after: *const Signal,
    completion: Signal,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let original = |completion| {
        // SAFETY: the program's own arguments, but for the signal, which is live.
        unsafe { (backend.api.async_copy)(to, to_agent, from, from_agent, bytes, count, after, completion) }
    };
    backend.linear_copy((to as u64, to_agent), (from as u64, from_agent), bytes as u64, completion, original)
}

/// `hsa_amd_memory_async_copy_on_engine`.
#[allow(clippy::too_many_arguments)] // The runtime's signature.
pub(super) unsafe extern "C" fn async_copy_on_engine(
    to: *mut c_void,
    to_agent: AgentHandle,
    from: *const c_void,
    from_agent: AgentHandle,
    bytes: usize,
    count: u32,
    after: *const Signal,
    completion: Signal,
    engine: u32,
    force: bool,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(copy) = backend.api.async_copy_on_engine else { return Status::ERROR };
    let original = |completion| {
        // SAFETY: the program's own arguments, but for the signal, which is live.
        unsafe { copy(to, to_agent, from, from_agent, bytes, count, after, completion, engine, force) }
    };
    backend.linear_copy((to as u64, to_agent), (from as u64, from_agent), bytes as u64, completion, original)
}

/// `hsa_amd_memory_async_copy_rect`.
#[allow(clippy::too_many_arguments)] // The runtime's signature.
pub(super) unsafe extern "C" fn async_copy_rect(
    to: *const PitchedPointer,
    to_offset: *const Dim3,
    from: *const PitchedPointer,
    from_offset: *const Dim3,
    range: *const Dim3,
    agent: AgentHandle,
    direction: u32,
    count: u32,
    after: *const Signal,
    completion: Signal,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let original = |completion| {
        // SAFETY: the program's own arguments, but for the signal, which is live.
        unsafe {
            (backend.api.async_copy_rect)(
                to,
                to_offset,
                from,
                from_offset,
                range,
                agent,
                direction,
                count,
                after,
                completion,
            )
        }
    };
    if to.is_null() || to_offset.is_null() || range.is_null() {
        return original(completion);
    }
    // SAFETY: the runtime reads the same three structures.
    let written = unsafe { rect(&*to, &*to_offset, &*range) };
    let effect = |_| match backend.allocations.around(written.base) {
        Some(target) if target.kind == (RegionKind::Host { copyable: false }) => Effect::Reads,
        _ => Effect::Other,
    };
    backend.copy(&[agent], written, effect, completion, original)
}

/// Everything between the first and the last byte of a rectangle.
fn rect(pointer: &PitchedPointer, offset: &Dim3, range: &Dim3) -> Range {
    let last = |offset: u32, range: u32, step: usize| {
        (u64::from(offset) + u64::from(range)).saturating_sub(1).saturating_mul(step as u64)
    };
    let bytes = last(offset.z, range.z, pointer.slice)
        .saturating_add(last(offset.y, range.y, pointer.pitch))
        .saturating_add(u64::from(offset.x) + u64::from(range.x));
    Range::new(pointer.base, bytes)
}

/// `hsa_memory_copy`: over when it returns.
pub(super) unsafe extern "C" fn memory_copy(to: *mut c_void, from: *const c_void, bytes: usize) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let written = Range::new(to as u64, bytes as u64);
    let effect = |unit| backend.effect(unit, to as u64, from as u64, bytes as u64);
    // SAFETY: the program's own arguments.
    synchronous(backend, &[to as u64, from as u64], written, effect, || unsafe {
        (backend.api.memory_copy)(to, from, bytes)
    })
}

/// `hsa_amd_memory_fill`: over when it returns. `count` words.
pub(super) unsafe extern "C" fn memory_fill(to: *mut c_void, value: u32, count: usize) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let written = Range::new(to as u64, (count as u64).saturating_mul(4));
    let effect = |unit| backend.fill_effect(unit, to as u64, value, count as u64);
    // SAFETY: the program's own arguments.
    synchronous(backend, &[to as u64], written, effect, || unsafe { (backend.api.memory_fill)(to, value, count) })
}

/// Calls `original` with the engines of the GPUs held whose memory these addresses are.
pub(super) fn synchronous(
    backend: &Backend,
    addresses: &[u64],
    written: Range,
    effect: impl Fn(usize) -> Effect,
    original: impl FnOnce() -> Status,
) -> Status {
    if !backend.is_on() {
        return original();
    }
    let ours = || {
        let mut units: Vec<usize> = addresses.iter().filter_map(|address| backend.owner(*address)).collect();
        units.sort_unstable();
        units.dedup();
        backend.hold(&units, written, effect)
    };
    let (held, ending) = guard("a synchronous copy", ours, || (Vec::new(), Ending::default()));
    let status = original();
    if status.is_ok() {
        guard("the end of a synchronous copy", || ending.succeeded(), || ());
    }
    drop(held);
    status
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_reaches_from_its_base_to_its_last_byte() {
        let pointer = PitchedPointer { base: 0x1000, pitch: 256, slice: 4096 };
        let range = rect(&pointer, &Dim3 { x: 8, y: 1, z: 0 }, &Dim3 { x: 16, y: 2, z: 3 });
        assert_eq!(range, Range::new(0x1000, 2 * 4096 + 2 * 256 + 24));
    }
}
