//! What the program does: it has memory, and queues that it launches into and waits for.

use super::agent::MemoryAgent;
use super::memory::{Memory, Work};
use crate::Range;

impl MemoryAgent {
    /// The program allocates device memory: aligned to 256 bytes, poisoned.
    pub fn program_allocate(&self, bytes: u64) -> u64 {
        let mut state = self.state();
        let base = state.program_next;
        state.program_next += bytes.next_multiple_of(256) + 256;
        state.program_insert(base, bytes, self.poison);
        base
    }

    /// The program gets device memory at an address that was free.
    pub fn program_allocate_at(&self, base: u64, bytes: u64) {
        self.state().program_insert(base, bytes, self.poison);
    }

    /// The program frees device memory.
    pub fn program_free(&self, base: u64) {
        let mut state = self.state();
        assert!(state.program.remove(&base).is_some(), "the program frees what it has");
        let bytes = state.machine.memory.remove(base);
        state.allocated -= bytes;
    }

    /// The program launches a kernel on a queue; it runs when the queue is waited for.
    pub fn program_launch(&self, queue: u64, work: &Work) {
        let mut state = self.state();
        state.machine.program.push_back((queue, work.clone()));
        if !self.lazy {
            state.machine.run_program();
        }
    }

    /// The program waits for all its queues.
    pub fn program_synchronise(&self) {
        self.state().machine.run_program();
    }

    /// Whether the program's launches wait in this queue until [`MemoryAgent::resume`].
    pub fn stall(&self, queue: u64) {
        self.state().machine.stalled.insert(queue);
    }

    /// Lets a stalled queue run.
    pub fn resume(&self, queue: u64) {
        self.state().machine.stalled.remove(&queue);
    }

    /// Touches memory directly, as the program's calls or a foreign writer would.
    pub fn with_memory<T>(&self, touch: impl FnOnce(&mut Memory) -> T) -> T {
        touch(&mut self.state().machine.memory)
    }

    /// Bytes of program memory, after the program waited for its queues.
    pub fn program_read(&self, range: Range) -> Vec<u8> {
        self.program_synchronise();
        self.with_memory(|memory| memory.bytes(range).to_vec())
    }
}
