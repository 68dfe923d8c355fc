//! Memory that is mapped through the virtual-memory interface: it is live once a device may write it.

use super::{Interceptor, locked};
use crate::tables::Context;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{AccessDescription, MemMapParams, MemSetAccessParams, MemUnmapParams};
use kreplay_engine::{ClosingReason, Range, Region, RegionKind, Writers};
use std::collections::{BTreeMap, HashSet};

/// Physical memory that is mapped, by address, until it is unmapped.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    mapped: BTreeMap<u64, Mapping>,
    /// Handles of physical memory that others may use.
    foreign: HashSet<u64>,
}

#[derive(Clone, Debug)]
struct Mapping {
    bytes: u64,
    /// Those of its physical memory that were seen.
    handles: Vec<u64>,
    /// Somebody was allowed to use it.
    accessible: bool,
    /// The host was.
    host: bool,
    /// Others may use the physical memory.
    foreign: bool,
}

impl Mapping {
    /// What a device sees that may write it.
    fn kind(&self) -> RegionKind {
        match self {
            Mapping { foreign: true, .. } => RegionKind::Imported,
            Mapping { host: true, .. } => RegionKind::Host { copyable: false },
            _ => RegionKind::Mapped,
        }
    }
}

impl Mappings {
    fn in_range(&self, base: u64, bytes: u64) -> impl Iterator<Item = (&u64, &Mapping)> {
        self.mapped.range(base..base.saturating_add(bytes))
    }

    /// A handle was made; its number may have stood for something else before.
    pub(super) fn handle_made(&mut self, handle: u64, foreign: bool) {
        if foreign {
            self.foreign.insert(handle);
        } else {
            self.foreign.remove(&handle);
        }
    }

    /// Another handle of what an address is mapped to.
    pub(super) fn handle_retained(&mut self, address: u64, handle: u64) {
        let Some((base, mapping)) = self.mapped.range_mut(..=address).next_back() else { return };
        if address - base < mapping.bytes {
            mapping.handles.push(handle);
            let foreign = mapping.foreign;
            self.handle_made(handle, foreign);
        }
    }

    /// Others may use the physical memory of a handle from now on. Gives where it is mapped.
    pub(super) fn handle_exported(&mut self, handle: u64) -> Vec<u64> {
        self.foreign.insert(handle);
        let own = self.mapped.iter_mut().filter(|(_, mapping)| mapping.handles.contains(&handle));
        own.map(|(base, mapping)| {
            mapping.foreign = true;
            *base
        })
        .collect()
    }
}

impl Interceptor {
    /// *Exit* of `cuMemMap`: the mapping exists; who may use it is said later.
    pub(super) fn map_exit(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemMapParams>().read() };
        let mut mappings = locked(&self.mappings);
        let foreign = mappings.foreign.contains(&p.handle);
        let (bytes, handles) = (p.bytes as u64, vec![p.handle]);
        mappings.mapped.insert(p.pointer, Mapping { bytes, handles, accessible: false, host: false, foreign });
    }

    /// *Enter* of `cuMemUnmap`.
    pub(super) fn unmap_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemUnmapParams>().read() };
        let bases: Vec<u64> = {
            let mut mappings = locked(&self.mappings);
            // Those that a device may only read are live for no context, and recorded launches may read them.
            let gone = mappings.in_range(p.pointer, p.bytes as u64).filter(|(_, mapping)| mapping.accessible);
            let bases = gone.map(|(base, _)| *base).collect();
            let range = p.pointer..p.pointer.saturating_add(p.bytes as u64);
            mappings.mapped.retain(|base, _| !range.contains(base));
            bases
        };
        self.retire(data, &bases, &|state, base| state.region_retire(base));
    }

    /// *Enter* of `cuMemSetAccess`: who may use a mapping changes, and a replay may not be allowed any more what a launch was.
    pub(super) fn access_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemSetAccessParams>().read() };
        let used = locked(&self.mappings).in_range(p.pointer, p.bytes as u64).any(|(_, mapping)| mapping.accessible);
        if used {
            self.end_recordings(ClosingReason::Unrecordable);
        }
    }

    /// *Exit* of `cuMemSetAccess`: mappings that a device may write are live on it.
    pub(super) fn access_exit(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemSetAccessParams>().read() };
        if p.access.is_null() || p.count == 0 {
            return;
        }
        // SAFETY: the program hands that many descriptions to the driver.
        let access = unsafe { std::slice::from_raw_parts(p.access, p.count) };
        let range = p.pointer..p.pointer.saturating_add(p.bytes as u64);
        let mapped: Vec<(Range, RegionKind)> = {
            let mut mappings = locked(&self.mappings);
            let mapped = mappings.mapped.range_mut(range);
            mapped
                .map(|(base, mapping)| {
                    mapping.accessible = true;
                    // Whether it may read or write: what a pass leaves there is not for it to see.
                    if let Some(host) = access.iter().rev().find(|one| one.kind != DEVICE) {
                        mapping.host = host.flags != 0;
                    }
                    (Range::new(*base, mapping.bytes), mapping.kind())
                })
                .collect()
        };
        for (range, kind) in mapped {
            match self.forget(range.base) {
                Some((owner, region)) => self.access_changed(data.context, owner, region, (access, kind)),
                None => self.first_access(data.context, range, (access, kind)),
            }
        }
    }

    fn first_access(&self, context: Context, range: Range, (access, kind): (&[AccessDescription], RegionKind)) {
        let writable = access.iter().filter(|one| is_writable(one)).count();
        // What others write a pass must not even read.
        let read = kind != RegionKind::Mapped && access.iter().any(|one| one.kind == DEVICE && one.flags != 0);
        if writable > 0 || read {
            let seen = writable == 1 && kind == RegionKind::Mapped;
            let writers = if seen { Writers::Seen } else { Writers::Others };
            self.born(Some(context), Region { range, kind, writers });
        }
    }

    /// A mapping that was live, and is told about anew.
    fn access_changed(
        &self,
        context: Context,
        owner: Option<Context>,
        region: Region,
        (access, kind): (&[AccessDescription], RegionKind),
    ) {
        let range = region.range;
        let told = region.kind == kind || region.kind == RegionKind::Untracked;
        let kind = if region.kind == RegionKind::Untracked { RegionKind::Untracked } else { kind };
        let writers = if kind == RegionKind::Mapped { region.writers } else { Writers::Others };
        let region = Region { range, kind, writers };
        let device = owner.and_then(|owner| self.device_of(owner, context));
        let own = access.iter().rev().find(|one| one.kind == DEVICE && Some(one.device) == device);
        let region = match own {
            _ if device.is_none() => Some(Region { kind: RegionKind::Untracked, ..region }),
            // Its own device may not write it any more, so nor may a replay.
            Some(own) if !is_writable(own) && region.kind == RegionKind::Mapped => None,
            _ if told && access.iter().all(|one| !is_writable(one)) => return self.remember(owner, region),
            _ if access.iter().all(|one| one.kind != DEVICE) => Some(region),
            Some(_) if access.len() == 1 => Some(region),
            _ => Some(Region { writers: Writers::Others, ..region }),
        };
        for state in self.all_contexts() {
            // Gone for good: what it is now is told below.
            let _ = state.region_retire(range.base);
        }
        if let Some(region) = region {
            self.born(owner, region);
        }
    }

    /// The number of a context's device, where it is this thread's or there is an engine for it.
    fn device_of(&self, context: Context, current: Context) -> Option<i32> {
        let state = self.contexts.get(context)?;
        if let Some(driven) = state.driven() {
            return Some(driven.agent.device());
        }
        let _depth = crate::agent::Depth::enter();
        (context == current).then(|| self.driver.current_device().ok()).flatten()
    }
}

const DEVICE: u32 = 1;

fn is_writable(access: &AccessDescription) -> bool {
    const READ_WRITE: u32 = 3;
    access.kind == DEVICE && access.flags == READ_WRITE
}
