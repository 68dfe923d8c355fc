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

use super::live::Allocation;
use super::state::Backend;
use crate::abi::{ALLOCATION_EXECUTABLE, AgentHandle, POINTER_HSA, PointerInfo};
use crate::agent::PoolInfo;
use kreplay_engine::{Range, Region, RegionKind, Retired, Writers};
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

    pub(super) fn allocated(&self, pool: u64, flags: u32, address: *mut *mut c_void, bytes: usize) {
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
}
