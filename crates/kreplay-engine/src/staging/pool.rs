//! The pools and their buffers.

use super::budget::{Budget, Share};
use crate::lock::lock;
use crate::{Agent, AgentError, AgentId, Backing, Range, Tier};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Where a pool gets its storage: an agent's host tier.
pub(crate) trait Storage: Send + Sync {
    /// Allocates pinned host memory.
    fn allocate(&self, bytes: u64) -> Result<Backing, AgentError>;
    /// Gives it back.
    fn free(&self, backing: Backing);
}

impl<A: Agent> Storage for A {
    fn allocate(&self, bytes: u64) -> Result<Backing, AgentError> {
        Agent::allocate(self, Tier::Host, bytes)
    }

    fn free(&self, backing: Backing) {
        Agent::free(self, backing);
    }
}

/// The pools of all agents of the process.
pub(crate) struct Staging {
    budget: Arc<Budget>,
    pools: Mutex<BTreeMap<AgentId, Arc<Pool>>>,
}

/// One agent's storage.
struct Pool {
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Free storage, by capacity.
    free: BTreeMap<u64, Vec<Block>>,
    retained: u64,
    /// Free and handed out.
    held: u64,
    high_water: u64,
    closed: bool,
}

/// Storage with its share of the budget.
struct Block {
    backing: Backing,
    _share: Share,
}

impl Staging {
    /// Pools that together hold at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { budget: Budget::new(limit), pools: Mutex::default() }
    }

    /// Opens an agent's pool. An agent that had one keeps it.
    pub(crate) fn open(&self, agent: AgentId, storage: Arc<dyn Storage>) {
        lock(&self.pools).entry(agent).or_insert_with(|| Arc::new(Pool { storage, state: Mutex::default() }));
    }

    /// Storage of at least `size` bytes, content undefined.
    ///
    /// # Errors
    /// [`AgentError::Exhausted`] when neither the pool nor the budget nor the agent has it.
    pub(crate) fn acquire(&self, agent: AgentId, size: u64) -> Result<Buffer, AgentError> {
        let none = AgentError::Exhausted { tier: Tier::Host, bytes: size };
        let Some(pool) = lock(&self.pools).get(&agent).map(Arc::clone) else { return Err(none) };
        if let Some(block) = pool.take_fitting(size) {
            return Ok(Buffer { block: Some(block), pool, size });
        }
        let share = self.budget.take(size).ok_or(none)?;
        let backing = pool.storage.allocate(size)?;
        let mut state = lock(&pool.state);
        state.held += backing.range.bytes;
        state.high_water = state.high_water.max(state.held);
        drop(state);
        Ok(Buffer { block: Some(Block { backing, _share: share }), pool, size })
    }

    /// Frees what an agent's pool retains. Called when a capture ends, successful or not: by then it has taken what it
    /// needs.
    pub(crate) fn trim(&self, agent: AgentId) -> u64 {
        let Some(pool) = lock(&self.pools).get(&agent).map(Arc::clone) else { return 0 };
        pool.trim()
    }

    /// Bytes that an agent's pool holds and nobody uses.
    pub(crate) fn retained_bytes(&self, agent: AgentId) -> u64 {
        lock(&self.pools).get(&agent).map_or(0, |pool| lock(&pool.state).retained)
    }

    /// Most bytes that the agent's storage held so far, in use or retained.
    pub(crate) fn high_water(&self, agent: AgentId) -> u64 {
        lock(&self.pools).get(&agent).map_or(0, |pool| lock(&pool.state).high_water)
    }

    /// Frees what the agent's pool retains; buffers that come back later are left to the system.
    pub(crate) fn close(&self, agent: AgentId) {
        let pool = lock(&self.pools).remove(&agent);
        if let Some(pool) = pool {
            pool.trim();
            lock(&pool.state).closed = true;
        }
    }

    /// Bytes of the budget in use.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.budget.used()
    }
}

impl Pool {
    /// The smallest retained block with capacity in [size, 2·size].
    fn take_fitting(&self, size: u64) -> Option<Block> {
        let mut state = lock(&self.state);
        let (&capacity, blocks) = state.free.range_mut(size..=size.saturating_mul(2)).next()?;
        let block = blocks.pop();
        if blocks.is_empty() {
            state.free.remove(&capacity);
        }
        state.retained -= block.as_ref().map_or(0, |_| capacity);
        block
    }

    fn trim(&self) -> u64 {
        let mut state = lock(&self.state);
        let free = std::mem::take(&mut state.free);
        let bytes = std::mem::take(&mut state.retained);
        state.held -= bytes;
        // The agent is called without the lock: giving memory back may be slow.
        drop(state);
        for block in free.into_values().flatten() {
            self.storage.free(block.backing);
        }
        bytes
    }

    fn give_back(&self, block: Block) {
        let capacity = block.backing.range.bytes;
        let mut state = lock(&self.state);
        if state.closed {
            return;
        }
        state.retained += capacity;
        state.free.entry(capacity).or_default().push(block);
    }
}

/// Storage in use. Dropping it returns the storage to its pool.
pub(crate) struct Buffer {
    /// `None` only while it is dropped.
    block: Option<Block>,
    pool: Arc<Pool>,
    size: u64,
}

impl Buffer {
    /// The bytes asked for, as the agent sees them.
    pub(crate) fn range(&self) -> Range {
        let base = self.block.as_ref().map_or(0, |block| block.backing.range.base);
        Range::new(base, self.size)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.pool.give_back(block);
        }
    }
}
