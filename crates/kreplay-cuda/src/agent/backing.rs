//! Memory that the agent allocated for the engine, and which tier an address is in.

use super::{CudaAgent, locked};
use crate::tables::CudaError;
use kreplay_engine::{AgentError, Backing, MemoryState, Range, Tier};
use std::collections::BTreeMap;

/// Backing by its base. Copies from and to that of the host go by the copy engine.
#[derive(Debug, Default)]
pub(super) struct Backings {
    host: BTreeMap<u64, u64>,
    device: BTreeMap<u64, u64>,
}

impl Backings {
    /// Whether an address is in host backing.
    pub(super) fn is_host(&self, address: u64) -> bool {
        self.host.range(..=address).next_back().is_some_and(|(base, bytes)| address - base < *bytes)
    }

    /// Whether device backing begins there that has room for so many bytes.
    pub(super) fn is_on_device(&self, base: u64, bytes: u64) -> bool {
        self.device.get(&base).is_some_and(|room| bytes <= *room)
    }
}

impl CudaAgent {
    pub(super) fn memory_state(&self) -> Result<MemoryState, AgentError> {
        let _entered = self.enter()?;
        let (free, total) = self.driver().memory().map_err(|error| self.error(error))?;
        Ok(MemoryState { total, free })
    }

    pub(super) fn allocate_backing(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        let _entered = self.enter()?;
        let size = usize::try_from(bytes).map_err(|_| AgentError::Exhausted { tier, bytes })?;
        let allocated = match tier {
            Tier::Device => self.driver().allocate(size),
            Tier::Host => self.driver().allocate_host(size),
        };
        let base = allocated.map_err(|error| match error.status {
            CudaError::OUT_OF_MEMORY => AgentError::Exhausted { tier, bytes },
            _ => self.error(error),
        })?;
        let mut backings = locked(&self.0.backings);
        match tier {
            Tier::Device => backings.device.insert(base, bytes),
            Tier::Host => backings.host.insert(base, bytes),
        };
        drop(backings);
        Ok(Backing { range: Range::new(base, bytes), tier, token: 0 })
    }

    pub(super) fn free_backing(&self, backing: Backing) {
        // A lost context has given its memory back, or never will.
        let Ok(_entered) = self.enter() else { return };
        let freed = match backing.tier {
            Tier::Device => {
                self.end_digests(std::iter::once(backing.range));
                locked(&self.0.backings).device.remove(&backing.range.base);
                self.driver().free(backing.range.base)
            }
            Tier::Host => {
                locked(&self.0.backings).host.remove(&backing.range.base);
                self.driver().free_host(backing.range.base)
            }
        };
        if let Err(error) = freed {
            self.error(error);
        }
    }
}
