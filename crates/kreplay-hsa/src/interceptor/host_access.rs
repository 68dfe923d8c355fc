//! Keeps HIP from writing to device memory behind everybody's back.
//!
//! Where the host can reach device memory (a large BAR), HIP copies small buffers to the device with plain stores: no packet, no call. Such
//! a store by one thread during another thread's window would be lost when the window puts memory back, and nothing could tell. HIP
//! asks once whether the host can reach the pool; told that it cannot, it copies through the runtime, where copies wait for windows.

use super::guard;
use super::state::backend;
use crate::abi::{AGENT_INFO_DEVICE, AgentHandle, Pool, Status};
use std::ffi::c_void;

/// `HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS`.
const INFO_ACCESS: u32 = 0;
/// `HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED`.
const NEVER: u32 = 0;
/// `HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT`: for a CPU, only memory of a device is so.
const DISALLOWED: u32 = 2;
/// `HSA_DEVICE_TYPE_CPU`.
const DEVICE_CPU: u32 = 0;

/// `hsa_amd_agent_memory_pool_get_info`.
pub(super) unsafe extern "C" fn agent_pool_get_info(
    agent: AgentHandle,
    pool: Pool,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let status = unsafe { (backend.api.agent_pool_get_info)(agent, pool, attribute, value) };
    if !status.is_ok() || attribute != INFO_ACCESS || value.is_null() || !backend.is_on() {
        return status;
    }
    let ours = || {
        let mut device = u32::MAX;
        // SAFETY: the agent is one that the runtime has just answered for; the attribute is four bytes.
        let known = unsafe { (backend.api.agent_get_info)(agent, AGENT_INFO_DEVICE, (&raw mut device).cast()) };
        let access = value.cast::<u32>();
        // SAFETY: the runtime has just filled the four bytes of this attribute.
        if known.is_ok() && device == DEVICE_CPU && unsafe { access.read() } == DISALLOWED {
            // SAFETY: as above.
            unsafe { access.write(NEVER) };
        }
    };
    guard::guard("host access", ours, || ());
    status
}
