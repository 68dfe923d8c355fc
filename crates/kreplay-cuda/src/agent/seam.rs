//! The agent as the engine sees it, and launches on its stream: its own kernels, and recorded work.

use super::{CudaAgent, CudaWork, locked};
use crate::kernels::BLOCK;
use crate::tables::Function;
use crate::tables::driver_structs::LaunchConfig;
use kreplay_engine::{
    Agent, AgentDescription, AgentError, Answer, Backing, Chunk, MemoryState, Move, Pair, Range, Ticket, Tier, Towards,
};
use std::ffi::c_void;
use std::time::Instant;

impl CudaAgent {
    /// Launches one of our kernels with as many blocks as `tiles` need or the device holds.
    pub(super) fn launch_own(
        &self,
        kernel: Function,
        tiles: u64,
        arguments: *mut *mut c_void,
    ) -> Result<(), AgentError> {
        let blocks = tiles.div_ceil(u64::from(BLOCK / 32)).min(u64::from(self.0.blocks)) as u32;
        let config = LaunchConfig {
            grid: [blocks, 1, 1],
            block: [BLOCK, 1, 1],
            shared: 0,
            stream: self.stream(),
            attributes: std::ptr::null(),
            attribute_count: 0,
        };
        self.driver().launch(&config, kernel, arguments, std::ptr::null_mut()).map_err(|error| self.error(error))
    }
}

impl Agent for CudaAgent {
    type Work = CudaWork;

    fn describe(&self) -> AgentDescription {
        self.0.description.clone()
    }

    fn memory(&self) -> Result<MemoryState, AgentError> {
        self.memory_state()
    }

    fn allocate(&self, tier: Tier, bytes: u64) -> Result<Backing, AgentError> {
        self.allocate_backing(tier, bytes)
    }

    fn free(&self, backing: Backing) {
        self.free_backing(backing);
    }

    fn copy(&self, moves: &[Move]) -> Result<(), AgentError> {
        self.copy_moves(moves)
    }

    fn compare(&self, pairs: &[Pair], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.compare_pairs(pairs, chunk, None)
    }

    fn synchronise(&self, pairs: &[Pair], chunk: Chunk, towards: Towards) -> Result<Ticket, AgentError> {
        self.compare_pairs(pairs, chunk, Some(towards))
    }

    fn hash(&self, ranges: &[Range], chunk: Chunk) -> Result<Ticket, AgentError> {
        self.hash_ranges(ranges, chunk)
    }

    fn answer(&self, ticket: Ticket, deadline: Instant) -> Result<Answer, AgentError> {
        self.answer_until(ticket, deadline)
    }

    fn submit(&self, work: &CudaWork) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let launched = match self.uses_freed() {
            true => self.submit_to_freed(work)?,
            false => {
                work.submit(self.driver(), self.stream()).map_err(|error| self.error(error))?;
                matches!(work, CudaWork::Launch(_))
            }
        };
        match launched {
            true => self.note_launch(),
            false => self.note_operation(),
        }
        Ok(())
    }

    fn mark(&self) -> Result<(), AgentError> {
        self.put_mark()
    }

    fn reached(&self) -> Option<u64> {
        Some(self.marks_reached())
    }

    fn records(&self) -> bool {
        self.0.records.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn kept(&self) -> Result<(), AgentError> {
        match self.0.pools.get() {
            Some(pools) => pools.kept().map_err(|why| AgentError::Failed {
                call: "looking at memory pools",
                status: format!(
                    "memory that the program freed within the window may be mapped elsewhere by now: {why}"
                ),
            }),
            None => Ok(()),
        }
    }

    fn work_bytes(&self, work: &CudaWork) -> u64 {
        work.bytes()
    }

    fn drain(&self, deadline: Instant) -> Result<(), AgentError> {
        self.drain_until(deadline)
    }

    fn settle(&self, deadline: Instant) -> Result<(), AgentError> {
        self.settle_until(deadline)
    }
}

impl CudaAgent {
    /// Frees what the agent holds for tables and results; the context is about to go.
    pub(crate) fn close(&self) {
        self.leave_device();
        self.forget_writers();
        let Ok(_entered) = self.enter() else { return };
        locked(&self.0.slots).close(self.driver());
        locked(&self.0.marks).close(self.driver());
    }
}
