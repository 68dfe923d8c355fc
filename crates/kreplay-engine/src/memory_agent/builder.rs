//! Making an agent.

use super::agent::{MemoryAgent, State};
use crate::{AgentId, Capabilities};
use std::sync::{Arc, Mutex};

const PROGRAM_BASE: u64 = 0x1000_0000_0000;
const BACKING_BASE: u64 = 0x2000_0000_0000;
/// Fresh memory holds this, so that nobody relies on zeroes.
const POISON: u8 = 0xa5;

/// Makes a [`MemoryAgent`].
#[derive(Clone, Debug)]
pub struct Builder {
    id: u64,
    capabilities: Capabilities,
    lazy: bool,
    marks: bool,
    total: u64,
    poison: u8,
}

impl Builder {
    /// What it can do on the device; everything on device memory unless this is called.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Runs everything at once instead of when it is waited for.
    #[must_use]
    pub fn eager(mut self) -> Self {
        self.lazy = false;
        self
    }

    /// It cannot mark its queue.
    #[must_use]
    pub fn unmarked(mut self) -> Self {
        self.marks = false;
        self
    }

    /// Leaves fresh memory zero instead of poisoning it: large benchmarks then touch only what they use.
    #[must_use]
    pub fn unpoisoned(mut self) -> Self {
        self.poison = 0;
        self
    }

    /// Device memory in bytes.
    #[must_use]
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.total = bytes;
        self
    }

    /// The agent.
    pub fn build(self) -> Arc<MemoryAgent> {
        Arc::new(MemoryAgent {
            id: AgentId(self.id),
            capabilities: self.capabilities,
            lazy: self.lazy,
            marks: self.marks,
            total: self.total,
            poison: self.poison,
            state: Mutex::new(State {
                program_next: PROGRAM_BASE + (self.id << 40),
                backing_next: BACKING_BASE + (self.id << 40),
                ..State::default()
            }),
        })
    }
}

impl MemoryAgent {
    /// A lazy agent of number `id` (below 4096) with 1 TiB of device memory.
    pub fn builder(id: u64) -> Builder {
        let capabilities = Capabilities { observe: true };
        Builder { id, capabilities, lazy: true, marks: true, total: 1 << 40, poison: POISON }
    }
}
