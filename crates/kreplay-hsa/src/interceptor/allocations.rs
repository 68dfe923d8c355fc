//! The program's memory: what becomes a region, of which kind, on which agent.
//!
//! | memory | on its own GPU | on the other GPUs |
//! |---|---|---|
//! | coarse-grained device memory | captured | `imported_memory` once they may reach it |
//! | fine-grained device memory | captured, others may write it | `imported_memory` once they may reach it |
//! | device memory with the executable flag | `untracked_memory` | – |
//! | kernel arguments | never restored | never restored |
//! | other host memory of the runtime, locked host memory | `untracked_memory` | the same |
//! | memory of other processes and interfaces, memory exported to them | `imported_memory` | the same |
//! | virtual memory mappings | captured while it may read and write them, else `untracked_memory` | `imported_memory` once they may reach it |
//! | managed (SVM) ranges | `managed_memory` | the same |
//!
//! A reason is what a dispatch declines with when its arguments point there. HIP puts its own buffers (arguments of
//! graphs, profiling) into memory with the executable flag and changes them behind everybody's back; restoring them would
//! harm it.

use super::guard;
use super::held_frees::{self, Held};
use super::live::Allocation;
use super::state::{Backend, backend};
use crate::abi::{ALLOCATION_EXECUTABLE, AgentHandle, POINTER_HSA, PointerInfo, Pool, Region as RegionHandle, Status};
use crate::agent::PoolInfo;
use kreplay_engine::{ClosingReason, Range, Region, RegionKind, Retired, Writers};
use kreplay_session::{loader_is_free, spare_the_loader};
use std::ffi::c_void;

/// An allocation whose free has not been tried yet.
pub(super) struct Leaving {
    allocation: Allocation,
    retired: Vec<(usize, Retired)>,
}

impl Backend {
    /// Memory is there: tell the engines.
    pub(super) fn born(&self, allocation: Allocation) {
        if allocation.range.bytes == 0 {
            return;
        }
        for (index, unit) in self.units().iter().enumerate() {
            // Nobody asks whether a GPU has access to what it could not put back.
            let anywhere = allocation.kind == RegionKind::Imported;
            if anywhere || allocation.owner.is_none_or(|owner| owner == index) {
                unit.engine.region_born(Region {
                    range: allocation.range,
                    kind: allocation.kind.clone(),
                    writers: allocation.writers,
                });
                if allocation.owner == Some(index) {
                    unit.agent.count_used(allocation.pool_bytes, true);
                }
            }
        }
        self.allocations.insert(allocation);
    }

    /// Memory is about to go. `None` when it is not known.
    pub(super) fn leaving(&self, base: u64) -> Option<Leaving> {
        let allocation = self.allocations.remove(base)?;
        let retired = self
            .units()
            .iter()
            .enumerate()
            .filter_map(|(index, unit)| {
                if unit.engine.is_used(base) {
                    spare_the_loader(&unit.engine, loader_is_free);
                }
                unit.engine.region_retire(base).map(|retired| (index, retired))
            })
            .collect();
        Some(Leaving { allocation, retired })
    }

    /// The free is over; when it failed the memory is still there.
    pub(super) fn left(&self, leaving: Leaving, freed: bool) {
        let Leaving { allocation, retired } = leaving;
        if freed {
            if let Some(owner) = allocation.owner {
                self.units()[owner].agent.count_used(allocation.pool_bytes, false);
            }
            return;
        }
        for (index, retired) in retired {
            self.units()[index].engine.region_reinstate(retired);
        }
        self.allocations.insert(allocation);
    }

    /// The pool with this handle.
    pub(super) fn pool(&self, handle: u64) -> Option<&PoolInfo> {
        self.pools().iter().find(|pool| pool.pool.handle == handle)
    }

    /// Where an allocation really lies and how long it is: the runtime rounds up.
    fn extent(&self, address: u64, asked: u64) -> Range {
        let known = self
            .pointer(address)
            .filter(|info| info.kind == POINTER_HSA && info.agent_base == address && info.bytes as u64 >= asked);
        Range::new(address, known.map_or(asked, |info| info.bytes as u64))
    }

    /// What the runtime knows of an address.
    pub(super) fn pointer(&self, address: u64) -> Option<PointerInfo> {
        let mut info = PointerInfo {
            size: size_of::<PointerInfo>() as u32,
            kind: 0,
            agent_base: 0,
            host_base: 0,
            bytes: 0,
            user_data: std::ptr::null_mut(),
            owner: AgentHandle::default(),
            global_flags: 0,
            reserved: 0,
        };
        let none = std::ptr::null_mut();
        // SAFETY: `info` says how large it is; no list of agents is asked for.
        let status = unsafe {
            (self.api.pointer_info)(address as *const c_void, &raw mut info, None, none, std::ptr::null_mut())
        };
        status.is_ok().then_some(info)
    }

    /// What an allocation of a pool is.
    fn classify(&self, pool: &PoolInfo, flags: u32, range: Range) -> Allocation {
        let owner = self.units().iter().position(|unit| unit.handle() == pool.owner);
        let arguments = pool.is_kernarg()
            && self.pools().iter().any(|other| other.owner == pool.owner && other.is_fine() && !other.is_kernarg());
        let kind = match owner {
            _ if arguments => RegionKind::KernelArguments,
            Some(_) if flags & ALLOCATION_EXECUTABLE != 0 => RegionKind::Untracked,
            Some(_) => RegionKind::Device,
            // HIP's own again.
            None if flags & ALLOCATION_EXECUTABLE != 0 => RegionKind::KernelArguments,
            None => RegionKind::Host { copyable: false },
        };
        let seen = owner.is_some() && !pool.is_fine();
        let writers = if seen { Writers::Seen } else { Writers::Others };
        Allocation {
            range,
            kind,
            owner,
            writers,
            pool_bytes: if owner.is_some() { range.bytes } else { 0 },
            access: 0,
            host_address: owner.is_none(),
            handle: None,
        }
    }

    fn allocated(&self, pool: u64, flags: u32, address: *mut *mut c_void, bytes: usize) {
        // SAFETY: the call that filled it succeeded.
        let base = unsafe { *address } as u64;
        if let Some(pool) = self.pool(pool).filter(|_| base != 0) {
            let range = self.extent(base, bytes as u64);
            self.born(self.classify(pool, flags, range));
        }
    }

    /// Memory that is neither the runtime's nor captured.
    pub(super) fn foreign(&self, base: u64, bytes: u64, kind: RegionKind, access: u64) {
        if self.allocations.around(base).is_none() {
            let range = Range::new(base, bytes);
            self.born(Allocation {
                range,
                kind,
                owner: None,
                writers: Writers::Others,
                pool_bytes: 0,
                access,
                host_address: false,
                handle: None,
            });
        }
    }

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

/// Frees what `free` frees; its region is retired before and put back when it fails.
pub(super) fn freeing(backend: &Backend, address: *mut c_void, free: impl FnOnce() -> Status) -> Status {
    let leaving = if backend.is_on() { guard("a free", || backend.leaving(address as u64), || None) } else { None };
    let status = free();
    if let Some(leaving) = leaving {
        guard("a free", || backend.left(leaving, status.is_ok()), || ());
    }
    status
}

/// `hsa_amd_memory_pool_allocate`.
pub(super) unsafe extern "C" fn pool_allocate(
    pool: Pool,
    bytes: usize,
    flags: u32,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let mut status = unsafe { (backend.api.pool_allocate)(pool, bytes, flags, address) };
    if backend.is_on() {
        if !status.is_ok() && guard("an allocation", || make_room(backend, pool), || false) {
            // SAFETY: as above.
            status = unsafe { (backend.api.pool_allocate)(pool, bytes, flags, address) };
        }
        if status.is_ok() {
            guard("an allocation", || backend.allocated(pool.handle, flags, address, bytes), || ());
        }
    }
    status
}

/// An allocation failed: gives back what the engine holds idle, and what the program has freed within an open window.
/// Whether that was anything.
fn make_room(backend: &Backend, pool: Pool) -> bool {
    let Some(pool) = backend.pool(pool.handle) else { return false };
    let Some(unit) = backend.unit(pool.owner) else { return false };
    let held = !backend.allocations.held().is_empty();
    if held {
        unit.engine.close_window_for(ClosingReason::Memory);
    }
    unit.engine.release_idle() != 0 || held
}

/// `hsa_amd_memory_pool_free`.
pub(super) unsafe extern "C" fn pool_free(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    if backend.is_on() {
        match guard("a free", || held_frees::hold_back(backend, address as u64), || Held::Not) {
            Held::Now => return Status::SUCCESS,
            Held::Before => return Status::INVALID_ALLOCATION,
            Held::Not => {}
        }
    }
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.pool_free)(address) })
}

/// `hsa_memory_allocate`. A region's handle is its pool's.
pub(super) unsafe extern "C" fn memory_allocate(
    region: RegionHandle,
    bytes: usize,
    address: *mut *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.memory_allocate)(region, bytes, address) };
    if status.is_ok() && backend.is_on() {
        guard("an allocation", || backend.allocated(region.handle, 0, address, bytes), || ());
    }
    status
}

/// `hsa_memory_free`.
pub(super) unsafe extern "C" fn memory_free(address: *mut c_void) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own argument.
    freeing(backend, address, || unsafe { (backend.api.memory_free)(address) })
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
