//! Which GPUs may reach the program's memory, and when that changes.

use super::guard;
use super::live::Allocation;
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, Status};
use kreplay_engine::{ClosingReason, Region, RegionKind, Writers};
use std::ffi::c_void;

impl Backend {
    /// The GPUs among these agents, one bit each.
    pub(super) fn bits(&self, agents: &[AgentHandle]) -> u64 {
        let units = self.units().iter().take(64).enumerate();
        units.filter(|(_, unit)| agents.contains(&unit.handle())).fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// GPUs are about to lose access to an allocation; recorded launches of theirs may reach it by a pointer in memory.
    pub(super) fn access_goes(&self, address: u64, stays: impl Fn(usize) -> bool) {
        let Some(known) = self.allocations.around(address) else { return };
        for (index, unit) in self.units().iter().take(64).enumerate() {
            if known.access >> index & 1 == 1 && known.owner != Some(index) && !stays(index) {
                self.end_recording(unit, ClosingReason::Unrecordable);
            }
        }
    }

    /// A mapping is of another kind on its own GPU from now on, unless others may write it.
    pub(super) fn becomes(&self, allocation: &Allocation, kind: RegionKind) {
        let _change = self.allocations.changing();
        match self.allocations.lock().get_mut(&allocation.range.base) {
            Some(live) if live.kind != RegionKind::Imported => live.kind = kind.clone(),
            _ => return,
        }
        if let Some(owner) = allocation.owner {
            let Allocation { range, writers, .. } = *allocation;
            self.units()[owner].engine.region_changed(Region { range, kind, writers });
        }
    }

    /// These GPUs, and no others, were given access to host memory.
    fn accessible(&self, address: u64, access: u64) {
        let mut live = self.allocations.lock();
        if let Some((_, allocation)) = live.range_mut(..=address).next_back()
            && allocation.range.contains(address)
        {
            allocation.access = access;
        }
    }

    /// Other GPUs can write this allocation from now on.
    pub(super) fn shared(&self, base: u64, with: impl Fn(usize) -> bool) {
        let _change = self.allocations.changing();
        let Some(allocation) = self.allocations.around(base) else { return };
        let Some(owner) = allocation.owner else { return };
        let others: Vec<usize> = (0..self.units().len()).filter(|index| *index != owner && with(*index)).collect();
        for index in &others {
            self.units()[*index].engine.region_changed(Region {
                range: allocation.range,
                kind: RegionKind::Imported,
                writers: Writers::Others,
            });
        }
        if allocation.writers == Writers::Seen && !others.is_empty() {
            if let Some(live) = self.allocations.lock().get_mut(&allocation.range.base) {
                live.writers = Writers::Others;
            }
            self.units()[owner].engine.region_changed(Region {
                range: allocation.range,
                kind: allocation.kind,
                writers: Writers::Others,
            });
        }
    }
}

/// `hsa_amd_agents_allow_access`.
pub(super) unsafe extern "C" fn allow_access(
    count: u32,
    agents: *const AgentHandle,
    flags: *const u32,
    address: *const c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    if backend.is_on() && !agents.is_null() {
        let ours = || {
            // SAFETY: the program hands that many agents to the runtime.
            let allowed = unsafe { std::slice::from_raw_parts(agents, count as usize) };
            let bits = backend.bits(allowed);
            backend.access_goes(address as u64, |index| bits >> index & 1 == 1);
        };
        guard("hsa_amd_agents_allow_access", ours, || ());
    }
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.allow_access)(count, agents, flags, address) };
    if status.is_ok() && backend.is_on() && !agents.is_null() {
        let ours = || {
            // SAFETY: the call that got the same list succeeded.
            let allowed = unsafe { std::slice::from_raw_parts(agents, count as usize) };
            backend.accessible(address as u64, backend.bits(allowed));
            backend.shared(address as u64, |index| {
                backend.units().get(index).is_some_and(|unit| allowed.contains(&unit.handle()))
            });
        };
        guard("hsa_amd_agents_allow_access", ours, || ());
    }
    status
}
