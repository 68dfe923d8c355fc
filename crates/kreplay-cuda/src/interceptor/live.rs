//! Live memory of the whole process: what one context allocated is another one's too, as memory that cannot be put back.

use super::{Interceptor, locked};
use crate::tables::Context;
use kreplay_engine::{Range, Region, RegionKind, Writers, pointers};
use std::collections::BTreeMap;

/// By base: who allocated it (nobody in particular: every context may use it), and what it is.
#[derive(Debug, Default)]
pub(super) struct Live(BTreeMap<u64, (Option<Context>, Region)>);

impl Live {
    /// The region that an address is in, and who allocated it.
    fn at(&self, address: u64) -> Option<&(Option<Context>, Region)> {
        let (_, found) = self.0.range(..=address).next_back()?;
        found.1.range.contains(address).then_some(found)
    }

    /// Whether an address is in device memory that this context was seen to allocate.
    pub(super) fn is_device(&self, context: Context, address: u64) -> bool {
        self.at(address).is_some_and(|(owner, region)| {
            let device = matches!(region.kind, RegionKind::Device | RegionKind::Pool | RegionKind::Mapped);
            device && owner.is_none_or(|owner| owner == context)
        })
    }

    /// Whether an address is in memory that is known.
    pub(super) fn is_in(&self, address: u64) -> bool {
        self.at(address).is_some()
    }

    /// Whether known memory begins there.
    pub(super) fn is_at(&self, base: u64) -> bool {
        self.0.contains_key(&base)
    }

    /// Bases of the regions that share bytes with a range.
    pub(super) fn within(&self, range: Range) -> Vec<u64> {
        let reached = self.0.range(..range.end()).map(|(_, (_, region))| region.range);
        reached.filter(|region| region.end() > range.base).map(|region| region.base).collect()
    }

    /// The region that an address is in becomes memory that others may use. `None` where it cannot be put back anyway.
    pub(super) fn export(&mut self, address: u64) -> Option<(Option<Context>, Region)> {
        let (_, (owner, region)) = self.0.range_mut(..=address).next_back()?;
        let captured = matches!(region.kind, RegionKind::Device | RegionKind::Pool | RegionKind::Mapped);
        if !captured || !region.range.contains(address) {
            return None;
        }
        (region.kind, region.writers) = (RegionKind::Imported, Writers::Others);
        Some((*owner, region.clone()))
    }

    /// Who allocated what an address is in; `None` where that is nobody in particular, or not known.
    pub(super) fn owner(&self, address: u64) -> Option<Context> {
        self.at(address)?.0
    }

    /// Whether another context than this one allocated what an address is in.
    pub(super) fn is_anothers(&self, context: Context, address: u64) -> bool {
        self.owner(address).is_some_and(|owner| owner != context)
    }

    /// Memory of other contexts that argument bytes point into, with its owner.
    pub(super) fn reached_elsewhere(&self, context: Context, arguments: &[u8]) -> Vec<(Context, Range)> {
        pointers(arguments)
            .filter_map(|address| {
                let (owner, region) = self.at(address)?;
                Some((owner.filter(|owner| *owner != context)?, region.range))
            })
            .collect()
    }

    /// Every region, as a context sees it.
    pub(super) fn seen_from(&self, context: Context) -> impl Iterator<Item = Region> + '_ {
        self.0.values().map(move |(owner, region)| seen_from(context, *owner, region))
    }
}

/// Memory of another context is reached only with peer access; a window of this context cannot put it back.
fn seen_from(context: Context, owner: Option<Context>, region: &Region) -> Region {
    match owner {
        Some(owner) if owner != context => {
            Region { range: region.range, kind: RegionKind::Imported, writers: Writers::Others }
        }
        _ => region.clone(),
    }
}

impl Interceptor {
    /// Memory is live. `owner`: the context that allocated it, when only that one uses it without peer access.
    pub(super) fn born(&self, owner: Option<Context>, region: Region) {
        if let Some(owner) = owner {
            self.context(owner);
        }
        locked(&self.live).0.insert(region.range.base, (owner, region.clone()));
        for state in self.all_contexts() {
            state.region_born(seen_from(state.context, owner, &region));
        }
    }

    /// The number of the device of this thread's context. `None` where there is none, or that cannot be told.
    pub(super) fn device_of(&self, context: Context) -> Option<i32> {
        if context.is_null() {
            return None;
        }
        if let Some(driven) = self.contexts.get(context).as_ref().and_then(|state| state.driven()) {
            return Some(driven.agent.device());
        }
        let _depth = crate::agent::Depth::enter();
        self.driver.current_device().ok()
    }

    /// Memory is about to go; gives what brings it back.
    pub(super) fn forget(&self, base: u64) -> Option<(Option<Context>, Region)> {
        locked(&self.live).0.remove(&base)
    }

    /// It did not go after all.
    pub(super) fn remember(&self, owner: Option<Context>, region: Region) {
        locked(&self.live).0.insert(region.range.base, (owner, region));
    }

    /// A context is gone, and its memory with it.
    pub(super) fn context_gone(&self, context: Context) {
        let bases: Vec<u64> = {
            let mut live = locked(&self.live);
            let bases =
                live.0.iter().filter(|(_, (owner, _))| *owner == Some(context)).map(|(base, _)| *base).collect();
            live.0.retain(|_, (owner, _)| *owner != Some(context));
            bases
        };
        bases.iter().for_each(|base| self.opened.forget(*base));
        for state in self.all_contexts() {
            for base in &bases {
                // Gone for good: there is nothing to bring back.
                let _ = state.region_retire(*base);
            }
        }
    }
}
