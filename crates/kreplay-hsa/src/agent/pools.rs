//! Which memory pools an agent uses.

use crate::abi::{
    AgentHandle, FLAG_FINE_GRAINED, FLAG_KERNARG, POOL_INFO_ALLOC_ALLOWED, POOL_INFO_GLOBAL_FLAGS, POOL_INFO_SEGMENT,
    POOL_INFO_SIZE, Pool, SEGMENT_GLOBAL, Status,
};
use crate::tables::Api;
use std::ffi::c_void;

/// A pool of global memory from which can be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolInfo {
    /// Its handle.
    pub(crate) pool: Pool,
    /// Its agent.
    pub(crate) owner: AgentHandle,
    /// Whether that is a GPU.
    pub(crate) device: bool,
    /// `HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*`.
    pub(crate) flags: u32,
    /// Its size.
    pub(crate) bytes: u64,
}

impl PoolInfo {
    /// Whether kernel arguments live there.
    pub(crate) fn is_kernarg(&self) -> bool {
        self.flags & FLAG_KERNARG != 0
    }

    /// Whether it is fine-grained.
    pub(crate) fn is_fine(&self) -> bool {
        self.flags & FLAG_FINE_GRAINED != 0
    }
}

/// The pools of an agent.
pub(crate) fn pools_of(api: &Api, owner: AgentHandle, device: bool) -> Vec<PoolInfo> {
    unsafe extern "C" fn visit(pool: Pool, data: *mut c_void) -> Status {
        // SAFETY: `data` is the vector below, which outlives the iteration.
        unsafe { (*data.cast::<Vec<Pool>>()).push(pool) };
        Status::SUCCESS
    }
    let mut handles: Vec<Pool> = Vec::new();
    // SAFETY: the visitor has the right signature and `handles` outlives the call.
    let status = unsafe { (api.iterate_pools)(owner, visit, (&raw mut handles).cast()) };
    if !status.is_ok() {
        return Vec::new();
    }
    handles.into_iter().filter_map(|pool| describe(api, pool, owner, device)).collect()
}

fn describe(api: &Api, pool: Pool, owner: AgentHandle, device: bool) -> Option<PoolInfo> {
    let (mut segment, mut flags, mut bytes, mut allowed) = (u32::MAX, 0_u32, 0_usize, false);
    let ask = |attribute, value: *mut c_void| {
        // SAFETY: each attribute is asked with a variable of its documented type.
        unsafe { (api.pool_get_info)(pool, attribute, value) }.is_ok()
    };
    let known = ask(POOL_INFO_SEGMENT, (&raw mut segment).cast())
        && segment == SEGMENT_GLOBAL
        && ask(POOL_INFO_GLOBAL_FLAGS, (&raw mut flags).cast())
        && ask(POOL_INFO_SIZE, (&raw mut bytes).cast())
        && ask(POOL_INFO_ALLOC_ALLOWED, (&raw mut allowed).cast())
        && allowed;
    known.then_some(PoolInfo { pool, owner, device, flags, bytes: bytes as u64 })
}
