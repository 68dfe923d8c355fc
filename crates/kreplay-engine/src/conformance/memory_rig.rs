//! The rig of the in-memory agent.
#![cfg(any(test, feature = "test-agent"))]

use super::{Kernel, Rig, Words};
use crate::Range;
use crate::memory_agent::{Memory, MemoryAgent, Work};
use std::sync::Arc;

/// Runs the suite on [`MemoryAgent`], lazily.
pub struct MemoryRig {
    agent: Arc<MemoryAgent>,
}

impl MemoryRig {
    /// A rig of this agent.
    pub fn of(agent: Arc<MemoryAgent>) -> Self {
        Self { agent }
    }
}

impl Words for Memory {
    fn load(&self, address: u64) -> u32 {
        Memory::load(self, address)
    }

    fn store(&mut self, address: u64, value: u32) {
        Memory::store(self, address, value);
    }
}

impl Rig for MemoryRig {
    type Agent = MemoryAgent;

    fn make() -> Result<Self, String> {
        Ok(Self::of(MemoryAgent::builder(0).build()))
    }

    fn agent(&self) -> Arc<MemoryAgent> {
        Arc::clone(&self.agent)
    }

    fn allocate(&self, bytes: u64) -> u64 {
        self.agent.program_allocate(bytes)
    }

    fn free(&self, base: u64) {
        self.agent.program_synchronise();
        self.agent.program_free(base);
    }

    fn write(&self, address: u64, bytes: &[u8]) {
        self.agent.program_synchronise();
        self.agent
            .with_memory(|memory| memory.bytes_mut(Range::new(address, bytes.len() as u64)).copy_from_slice(bytes));
    }

    fn read(&self, range: Range) -> Vec<u8> {
        self.agent.program_read(range)
    }

    fn work(&self, kernel: &Kernel) -> Work {
        let kernel = *kernel;
        Work::new(move |memory| kernel.run(memory))
    }

    fn launch(&self, kernel: &Kernel) {
        self.agent.program_launch(0, &self.work(kernel));
    }
}
