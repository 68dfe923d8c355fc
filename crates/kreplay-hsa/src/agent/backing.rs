//! Memory of the agent's own: backing of both tiers, and what the command processor executes.

use super::HsaAgent;
use super::error::{check, check_allocation};
use crate::abi::{AGENT_INFO_MEMORY_AVAILABLE, ALLOCATION_EXECUTABLE, Pool};
use crate::counters::SharedBuffer;
use kreplay_engine::{AgentError, Backing, MemoryState, Range, Tier};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

impl HsaAgent {
    /// As the seam's `memory`.
    pub(super) fn memory_state(&self) -> Result<MemoryState, AgentError> {
        let total = self.gpu.device.bytes;
        let mut free = 0_u64;
        // SAFETY: the attribute is a u64; a runtime that does not know it says so.
        let status =
            unsafe { (self.api.agent_get_info)(self.gpu.handle, AGENT_INFO_MEMORY_AVAILABLE, (&raw mut free).cast()) };
        let free = if status.is_ok() { free } else { total.saturating_sub(self.used.load(Ordering::Relaxed)) };
        Ok(MemoryState { total, free })
    }

    /// As the seam's `allocate`.
    pub(super) fn allocate_backing(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        let bytes = bytes.max(1);
        let base = match tier {
            Tier::Host => self.allocate_host(bytes, 0)?,
            Tier::Device => {
                let base = self.allocate_from(self.gpu.device.pool, 0, tier, bytes)?;
                self.count_used(bytes, true);
                base
            }
        };
        Ok(Backing { range: Range::new(base, bytes), tier, token: base })
    }

    /// As the seam's `free`.
    pub(super) fn free_backing(&self, backing: Backing) {
        if backing.tier == Tier::Device {
            self.count_used(backing.range.bytes, false);
        }
        self.free_raw(backing.token);
    }

    /// Counts an allocation of the device's pool, or its end.
    pub(crate) fn count_used(&self, bytes: u64, born: bool) {
        if born {
            self.used.fetch_add(bytes, Ordering::Relaxed);
        } else {
            self.used.fetch_sub(bytes.min(self.used.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    /// Host memory from which the command processor can execute.
    pub(super) fn executable(&self, bytes: usize) -> Result<SharedBuffer, AgentError> {
        let asked = bytes as u64;
        // ROCr 5.2 knows no flags and makes all its memory executable.
        let address = match self.allocate_host(asked, ALLOCATION_EXECUTABLE) {
            Err(AgentError::Failed { .. }) => self.allocate_host(asked, 0)?,
            allocated => allocated?,
        };
        Ok(SharedBuffer { address, bytes, token: address })
    }

    /// Frees memory of [`HsaAgent::executable`] or of the host tier.
    pub(super) fn free_raw(&self, address: u64) {
        // SAFETY: the address came from a pool and nothing uses it any more. A failure leaks it.
        unsafe { (self.api.pool_free)(address as *mut c_void) };
    }

    fn allocate_from(&self, pool: Pool, flags: u32, tier: Tier, bytes: u64) -> Result<u64, AgentError> {
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: the pool is live; `address` is a place for the result.
        let status = unsafe { (self.api.pool_allocate)(pool, bytes as usize, flags, &raw mut address) };
        check_allocation("hsa_amd_memory_pool_allocate", status, tier, bytes)?;
        Ok(address as u64)
    }

    fn allocate_host(&self, bytes: u64, flags: u32) -> Result<u64, AgentError> {
        let address = self.allocate_from(self.gpu.host.pool, flags, Tier::Host, bytes)?;
        // SAFETY: the allocation is live.
        let status = unsafe {
            (self.api.allow_access)(1, &raw const self.gpu.handle, std::ptr::null(), address as *const c_void)
        };
        check("hsa_amd_agents_allow_access", status).inspect_err(|_| self.free_raw(address))?;
        Ok(address)
    }
}
