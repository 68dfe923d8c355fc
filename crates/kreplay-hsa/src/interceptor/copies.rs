//! Copies and fills that the program asks the runtime for.
//!
//! A copy must not fall into a window of another thread, and a window must not open over a copy in flight. So a copy is
//! submitted under the engine's guard with a completion signal of ours; when that falls, the program's signal is given
//! the same times and falls too. Signals cannot be watched instead: the program may reset one as soon as it has seen it
//! fall.

use super::guard;
use super::in_flight::Copy;
use super::recording::{Effect, Ending};
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, Dim3, PitchedPointer, Signal, Status};
use crate::agent::HsaAgent;
use kreplay_engine::{Range, RegionKind, RunGuard};
use std::ffi::c_void;
use std::sync::Arc;

/// A copy that is about to be submitted.
struct Begun {
    held: Vec<RunGuard<HsaAgent>>,
    /// Without a signal of ours nobody knows when the copy has ended.
    copy: Option<Arc<Copy>>,
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
    fn begin(
        &'static self,
        agents: &[AgentHandle],
        written: Range,
        effect: impl Fn(usize) -> Effect,
        completion: Signal,
    ) -> Option<Begun> {
        let units = self.touched(agents);
        if units.is_empty() || !self.is_on() {
            return None;
        }
        let Some(ours) = self.copies.acquire() else {
            let (held, _) = self.hold(&units, written, |_| Effect::Other);
            return Some(Begun { held, copy: None });
        };
        let (held, ending) = self.hold(&units, written, effect);
        Some(Begun { held, copy: Some(Copy::begin(self, ours, completion, units, ending)) })
    }

    /// [`Backend::copy`] of one piece: from where to where, each with its agent. A copy of nothing goes by: the runtime calls it
    /// a success and does not touch the signal.
    fn linear_copy(
        &'static self,
        (to, to_agent): (u64, AgentHandle),
        (from, from_agent): (u64, AgentHandle),
        bytes: u64,
        completion: Signal,
        original: impl Fn(Signal) -> Status,
    ) -> Status {
        if bytes == 0 {
            return original(completion);
        }
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
        let ours = || self.begin(agents, written, effect, completion);
        let Some(Begun { held, copy }) = guard("the beginning of a copy", ours, || None) else {
            return original(completion);
        };
        let status = original(copy.as_ref().map_or(completion, |copy| copy.signal()));
        if let Some(copy) = copy {
            copy.settle(status);
        }
        drop(held);
        status
    }
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
    // SAFETY: the runtime reads the same structure.
    let Dim3 { x, y, z } = unsafe { *range };
    // A copy of nothing, as above.
    if x == 0 || y == 0 || z == 0 {
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
