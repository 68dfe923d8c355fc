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
    /// What each device is allowed.
    devices: BTreeMap<i32, u32>,
    /// The device of the context that it is live for, where that is known.
    own: Option<i32>,
    /// The host was allowed to use it.
    host: bool,
    /// Others may use the physical memory.
    foreign: bool,
    /// Another than its own device was allowed to write it once.
    shared: bool,
    /// It is being unmapped.
    going: bool,
}

impl Mapping {
    /// Who may use it is told.
    fn allow(&mut self, access: &[AccessDescription]) {
        self.accessible = true;
        for one in access {
            // Whether the host may read or write: what a pass leaves there is not for it to see.
            if one.kind == DEVICE {
                self.devices.insert(one.device, one.flags);
            } else {
                self.host = one.flags != 0;
            }
        }
        let others = self.devices.iter().any(|(device, flags)| *flags == READ_WRITE && Some(*device) != self.own);
        self.shared |= others || self.host || self.foreign;
    }

    /// What it is to its own device. `None` where nobody changes it who could reach it.
    fn region(&self, base: u64) -> Option<Region> {
        let writable = |flags: &u32| *flags == READ_WRITE;
        let kind = match self {
            Mapping { foreign: true, .. } => RegionKind::Imported,
            Mapping { host: true, .. } => RegionKind::Host { copyable: false },
            // A replay may not write it either.
            Mapping { own, devices, .. } if !own.and_then(|own| devices.get(&own)).is_some_and(writable) => {
                return devices.values().any(writable).then(|| self.others(base, RegionKind::Imported));
            }
            _ if self.shared => return Some(self.others(base, RegionKind::Mapped)),
            _ => {
                let range = Range::new(base, self.bytes);
                return Some(Region { range, kind: RegionKind::Mapped, writers: Writers::Seen });
            }
        };
        // What others write a pass must not even read.
        self.devices.values().any(|flags| *flags != 0).then(|| self.others(base, kind))
    }

    fn others(&self, base: u64, kind: RegionKind) -> Region {
        Region { range: Range::new(base, self.bytes), kind, writers: Writers::Others }
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
        let mapping = Mapping {
            bytes,
            handles,
            accessible: false,
            devices: BTreeMap::new(),
            own: None,
            host: false,
            foreign,
            shared: false,
            going: false,
        };
        mappings.mapped.insert(p.pointer, mapping);
    }

    /// *Enter* of `cuMemUnmap`.
    pub(super) fn unmap_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemUnmapParams>().read() };
        let bases: Vec<u64> = {
            let mut mappings = locked(&self.mappings);
            let going = mappings.mapped.range_mut(p.pointer..p.pointer.saturating_add(p.bytes as u64));
            // Those that a device may only read are live for no context, and recorded launches may read them.
            let gone = going.filter_map(|(base, mapping)| {
                mapping.going = true;
                mapping.accessible.then_some(*base)
            });
            gone.collect()
        };
        self.retire(data, &bases, &|state, base| state.region_retire(base));
    }

    /// *Exit* of `cuMemUnmap`: unless it failed they are gone, but for those that were mapped there since.
    pub(super) fn unmap_exit(&self, data: &CallbackData, succeeded: bool) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemUnmapParams>().read() };
        let range = p.pointer..p.pointer.saturating_add(p.bytes as u64);
        let mut mappings = locked(&self.mappings);
        if succeeded {
            mappings.mapped.retain(|base, mapping| !(mapping.going && range.contains(base)));
        } else {
            mappings.mapped.range_mut(range).for_each(|(_, mapping)| mapping.going = false);
        }
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
        let device = self.device_of(data.context);
        let bases: Vec<u64> =
            locked(&self.mappings).in_range(p.pointer, p.bytes as u64).map(|(base, _)| *base).collect();
        for base in bases {
            let known = self.forget(base);
            let owned = matches!(known, Some((Some(_), _)));
            let region = {
                let mut mappings = locked(&self.mappings);
                let Some(mapping) = mappings.mapped.get_mut(&base) else { continue };
                if !owned {
                    mapping.own = device;
                }
                mapping.allow(access);
                mapping.region(base)
            };
            self.access_changed(data.context, base, known, region);
        }
    }

    /// A mapping was something to the contexts, and is something else now.
    fn access_changed(
        &self,
        context: Context,
        base: u64,
        known: Option<(Option<Context>, Region)>,
        region: Option<Region>,
    ) {
        // Without a context of its own it is nobody's in particular, and no state is made for none.
        let owner = known.as_ref().and_then(|(owner, _)| *owner).or((!context.is_null()).then_some(context));
        if let Some((before, was)) = known {
            let same = |is: &Region| before == owner && is.kind == was.kind && is.writers == was.writers;
            if region.as_ref().is_some_and(same) {
                return self.remember(owner, was);
            }
            for state in self.all_contexts() {
                // Gone for good: what it is now is told below.
                let _ = state.region_retire(base);
            }
        }
        if let Some(region) = region {
            self.born(owner, region);
        }
    }
}

/// Kind of a device among those that may use a mapping.
const DEVICE: u32 = 1;

/// It may be read and written.
const READ_WRITE: u32 = 3;
