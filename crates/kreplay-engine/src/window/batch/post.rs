//! What pass 0 left: kept while the passes run, put back at the end.

use crate::engine::Engine;
use crate::staging::Buffer;
use crate::{Agent, AgentError, Backing, Move, Range, Tier};

/// Where the image lies.
enum Store {
    Device(Backing),
    Host(Buffer),
}

/// The image of some ranges of memory.
pub(super) struct Post {
    /// Memory, and where its image lies.
    parts: Vec<(Range, u64)>,
    store: Option<Store>,
}

impl Post {
    /// Finds room and copies out. Nothing waits.
    pub(super) fn take<A: Agent>(engine: &Engine<A>, ranges: &[Range]) -> Result<Self, AgentError> {
        let bytes: u64 = ranges.iter().map(|range| range.bytes).sum();
        if bytes == 0 {
            return Ok(Self { parts: Vec::new(), store: None });
        }
        let store = Self::place(engine, bytes)?;
        let mut at = match &store {
            Store::Device(backing) => backing.range.base,
            Store::Host(buffer) => buffer.range().base,
        };
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            parts.push((*range, at));
            at += range.bytes;
        }
        let post = Self { parts, store: Some(store) };
        let moves: Vec<Move> =
            post.parts.iter().map(|(range, at)| Move { to: *at, from: range.base, bytes: range.bytes }).collect();
        match engine.agent.copy(&moves) {
            Ok(()) => Ok(post),
            Err(error) => {
                // What was copied by half may still be running.
                if engine.agent.settle(std::time::Instant::now() + engine.process.settings.pass_deadline).is_ok() {
                    post.free(engine);
                } else {
                    post.leak();
                }
                Err(error)
            }
        }
    }

    fn place<A: Agent>(engine: &Engine<A>, bytes: u64) -> Result<Store, AgentError> {
        let reserve = engine.process.settings.device_reserve;
        let free = engine.agent.memory().map_or(0, |memory| memory.free);
        if bytes.checked_add(reserve).is_some_and(|needed| needed <= free)
            && let Ok(backing) = engine.agent.allocate(Tier::Device, bytes)
        {
            return Ok(Store::Device(backing));
        }
        engine.process.staging.acquire(engine.description.id, bytes).map(Store::Host)
    }

    /// Copies that put the image back into memory.
    pub(super) fn back(&self) -> Vec<Move> {
        self.parts.iter().map(|(range, at)| Move { to: range.base, from: *at, bytes: range.bytes }).collect()
    }

    /// Frees the image. All work on it has ended.
    pub(super) fn free<A: Agent>(mut self, engine: &Engine<A>) {
        if let Some(Store::Device(backing)) = self.store.take() {
            engine.agent.free(backing);
        }
    }

    /// Work may still be running on it: it is left to the system.
    pub(super) fn leak(mut self) {
        if let Some(Store::Host(buffer)) = self.store.take() {
            std::mem::forget(buffer);
        }
    }
}
