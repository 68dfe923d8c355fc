//! Memory that is mapped through the virtual-memory interface: it is live once a device may write it.

use super::{Interceptor, locked};
use crate::tables::Context;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{AccessDescription, MemMapParams, MemSetAccessParams, MemUnmapParams};
use kreplay_engine::{ClosingReason, Range, Region, RegionKind, Writers};
use std::collections::BTreeMap;

/// Physical memory that is mapped, by address, until it is unmapped.
#[derive(Debug, Default)]
pub(super) struct Mappings(BTreeMap<u64, Mapping>);

#[derive(Clone, Copy, Debug)]
struct Mapping {
    bytes: u64,
    /// Some device was allowed to use it.
    accessible: bool,
}

impl Interceptor {
    /// *Exit* of `cuMemMap`: the mapping exists; who may use it is said later.
    pub(super) fn map_exit(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemMapParams>().read() };
        locked(&self.mappings).0.insert(p.pointer, Mapping { bytes: p.bytes as u64, accessible: false });
    }

    /// *Enter* of `cuMemUnmap`.
    pub(super) fn unmap_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemUnmapParams>().read() };
        let range = p.pointer..p.pointer.saturating_add(p.bytes as u64);
        let gone: Vec<(u64, Mapping)> = {
            let mut mappings = locked(&self.mappings);
            let gone: Vec<_> = mappings.0.range(range.clone()).map(|(base, mapping)| (*base, *mapping)).collect();
            mappings.0.retain(|base, _| !range.contains(base));
            gone
        };
        // Those that a device may only read are live for no context, and recorded launches may read them.
        let bases: Vec<u64> = gone.iter().filter(|(_, mapping)| mapping.accessible).map(|(base, _)| *base).collect();
        self.retire(data, &bases, &|state, base| state.region_retire(base));
    }

    /// *Enter* of `cuMemSetAccess`: who may use a mapping changes, and a replay may not be allowed any more what a launch was.
    pub(super) fn access_enter(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<MemSetAccessParams>().read() };
        let range = p.pointer..p.pointer.saturating_add(p.bytes as u64);
        let used = locked(&self.mappings).0.range(range).any(|(_, mapping)| mapping.accessible);
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
        let mapped: Vec<Range> = {
            let mut mappings = locked(&self.mappings);
            let mapped = mappings.0.range_mut(range);
            mapped
                .map(|(base, mapping)| {
                    mapping.accessible = true;
                    Range::new(*base, mapping.bytes)
                })
                .collect()
        };
        for range in mapped {
            match self.forget(range.base) {
                Some((owner, region)) => self.access_changed(data.context, owner, region, access),
                None => self.first_access(data.context, range, access),
            }
        }
    }

    fn first_access(&self, context: Context, range: Range, access: &[AccessDescription]) {
        let writable = access.iter().filter(|one| is_writable(one)).count();
        if writable > 0 {
            let writers = if writable > 1 { Writers::Others } else { Writers::Seen };
            self.born(Some(context), Region { range, kind: RegionKind::Mapped, writers });
        }
    }

    /// A mapping that was live, and is told about anew.
    fn access_changed(&self, context: Context, owner: Option<Context>, region: Region, access: &[AccessDescription]) {
        let range = region.range;
        let device = owner.and_then(|owner| self.device_of(owner, context));
        let own = access.iter().rev().find(|one| one.kind == DEVICE && Some(one.device) == device);
        let region = match own {
            _ if device.is_none() => Some(Region { kind: RegionKind::Untracked, ..region }),
            // Its own device may not write it any more, so nor may a replay.
            Some(own) if !is_writable(own) => None,
            _ if access.iter().all(|one| !is_writable(one)) => return self.remember(owner, region),
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
