//! The entries: placing, keeping and freeing backing.

use super::{Digests, Footprint, Tracked};
use crate::inventory::Live;
use crate::staging::{Buffer, Staging};
use crate::{Agent, AgentError, AgentId, Backing, Chunk, Generation, Tier, Writers};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where an entry's bytes live.
enum Store {
    Device(Backing),
    Host(Buffer),
}

impl Store {
    fn base(&self) -> u64 {
        match self {
            Store::Device(backing) => backing.range.base,
            Store::Host(buffer) => buffer.range().base,
        }
    }

    fn tier(&self) -> Tier {
        match self {
            Store::Device(_) => Tier::Device,
            Store::Host(_) => Tier::Host,
        }
    }
}

struct Entry {
    generation: Generation,
    bytes: u64,
    store: Store,
    known: bool,
    /// In the host tier, where chunks are told apart by their hashes.
    digests: Option<Digests>,
}

/// See the module.
pub(crate) struct Shadow<A: Agent> {
    agent: Arc<A>,
    entries: BTreeMap<u64, Entry>,
    /// Backing of regions that died while a window used it; freed when the window ends.
    graveyard: Vec<Store>,
    /// A window is open, or work of one may still be running: nothing is freed.
    busy: bool,
    device_held: u64,
}

/// What placing needs to know.
pub(crate) struct Placing<'a> {
    pub(crate) staging: &'a Staging,
    pub(crate) agent: AgentId,
    /// Device memory that stays with the program.
    pub(crate) reserve: u64,
    /// Whether chunks are told apart, and how large they are; else regions are copied whole.
    pub(crate) observe: Option<Chunk>,
}

/// Why a footprint could not be placed.
#[derive(Debug)]
pub(crate) enum Unplaced {
    /// No tier has room.
    NoBacking(AgentError),
    /// The agent failed.
    Agent(AgentError),
}

impl<A: Agent> Shadow<A> {
    pub(crate) fn new(agent: Arc<A>) -> Self {
        Self { agent, entries: BTreeMap::new(), graveyard: Vec::new(), busy: false, device_held: 0 }
    }

    /// Gives each of `wanted` an entry and begins a window on them. Entries of regions for which `live` is false are
    /// freed. When one region cannot be placed, none that was placed just now stays.
    pub(crate) fn place(
        &mut self,
        wanted: &[Live],
        live: impl Fn(u64, Generation) -> bool,
        placing: &Placing<'_>,
    ) -> Result<Footprint, Unplaced> {
        let dead: Vec<u64> = self
            .entries
            .iter()
            .filter(|(base, entry)| !live(**base, entry.generation))
            .map(|(base, _)| *base)
            .collect();
        for base in dead {
            self.forget(base);
        }
        let mut free = None;
        let mut placed = Vec::new();
        for region in wanted {
            let base = region.region.range.base;
            if self.entries.get(&base).is_some_and(|entry| entry.generation == region.generation) {
                continue;
            }
            // Another one's that was here and still counts as live: its backing may be smaller.
            self.forget(base);
            match self.allocate(region.region.range.bytes, &mut free, placing) {
                Ok(store) => {
                    let (generation, bytes) = (region.generation, region.region.range.bytes);
                    let hashed = placing.observe.filter(|_| store.tier() == Tier::Host);
                    let digests = hashed.map(|chunk| Digests::new(bytes, chunk));
                    self.entries.insert(base, Entry { generation, bytes, store, known: false, digests });
                    placed.push(base);
                }
                Err(error) => {
                    for base in placed {
                        self.forget(base);
                    }
                    return Err(error);
                }
            }
        }
        self.busy = true;
        Ok(Footprint::new(wanted.iter().filter_map(|region| self.track(region)).collect()))
    }

    fn track(&self, region: &Live) -> Option<Tracked> {
        let entry = self.entries.get(&region.region.range.base)?;
        Some(Tracked {
            range: region.region.range,
            generation: region.generation,
            shadow: entry.store.base(),
            tier: entry.store.tier(),
            digests: entry.digests.clone(),
            seen: region.region.writers == Writers::Seen,
            known: entry.known,
            stale: Vec::new(),
            live: true,
        })
    }

    /// Device first, then host staging. `free` is the device memory that is free, once it was asked for.
    fn allocate(&mut self, bytes: u64, free: &mut Option<u64>, placing: &Placing<'_>) -> Result<Store, Unplaced> {
        let available = match *free {
            Some(free) => free,
            None => match self.agent.memory() {
                Ok(memory) => memory.free,
                Err(lost @ AgentError::Lost(_)) => return Err(Unplaced::Agent(lost)),
                // What is free cannot be told: nothing is taken from the program.
                Err(_) => 0,
            },
        };
        *free = Some(available);
        if bytes.checked_add(placing.reserve).is_some_and(|needed| needed <= available) {
            match self.agent.allocate(Tier::Device, bytes) {
                Ok(backing) => {
                    *free = Some(available - bytes);
                    self.device_held += backing.range.bytes;
                    return Ok(Store::Device(backing));
                }
                Err(lost @ AgentError::Lost(_)) => return Err(Unplaced::Agent(lost)),
                // Whatever it was, the next tier may do.
                Err(_) => {}
            }
        }
        match placing.staging.acquire(placing.agent, bytes) {
            Ok(buffer) => Ok(Store::Host(buffer)),
            Err(lost @ AgentError::Lost(_)) => Err(Unplaced::Agent(lost)),
            Err(error) => Err(Unplaced::NoBacking(error)),
        }
    }

    /// A region died.
    pub(crate) fn region_gone(&mut self, region: &Live) {
        let base = region.region.range.base;
        if self.entries.get(&base).is_some_and(|entry| entry.generation == region.generation) {
            self.forget(base);
        }
    }

    /// All of memory may have been written, or entries: what no window looks at now is not known any more.
    pub(crate) fn distrust(&mut self) {
        for entry in self.entries.values_mut() {
            entry.known = false;
        }
    }

    /// The window ended, or failed before anything ran. `known` says whether the shadow equals memory where it is
    /// `tracked`; `keep_host` whether what lies in host-tier entries is of use to the next window.
    pub(crate) fn window_ended(&mut self, footprint: &Footprint, known: bool, keep_host: bool) {
        self.busy = false;
        for tracked in footprint.all() {
            if let Some(entry) = self.entries.get_mut(&tracked.range.base)
                && entry.generation == tracked.generation
            {
                entry.known = known;
            }
        }
        if !keep_host {
            self.entries.retain(|_, entry| entry.store.tier() == Tier::Device);
        }
        self.window_cancelled();
    }

    /// The window ended before it looked at anything: what was known still is.
    pub(crate) fn window_cancelled(&mut self) {
        self.busy = false;
        for store in std::mem::take(&mut self.graveyard) {
            self.release(store);
        }
    }

    /// Frees every entry, when no window is open. Returns the device bytes that came free.
    pub(crate) fn release_all(&mut self) -> u64 {
        if self.busy {
            return 0;
        }
        let before = self.device_held;
        for entry in std::mem::take(&mut self.entries).into_values() {
            self.release(entry.store);
        }
        before - self.device_held
    }

    /// Device backing held.
    pub(crate) fn device_held(&self) -> u64 {
        self.device_held
    }

    /// Bytes that all entries stand for.
    pub(crate) fn held(&self) -> u64 {
        self.entries.values().map(|entry| entry.bytes).sum()
    }

    fn forget(&mut self, base: u64) {
        let Some(entry) = self.entries.remove(&base) else { return };
        if self.busy {
            self.graveyard.push(entry.store);
        } else {
            self.release(entry.store);
        }
    }

    fn release(&mut self, store: Store) {
        if let Store::Device(backing) = store {
            self.device_held -= backing.range.bytes;
            self.agent.free(backing);
        }
    }
}

impl<A: Agent> Drop for Shadow<A> {
    /// While work may still be running on it, backing is left to the system.
    fn drop(&mut self) {
        self.release_all();
    }
}

#[cfg(test)]
mod tests;
