//! What interceptors report of memory: regions, code, writes by calls.

use super::open_batch::OpenBatch;
use super::{Engine, Event};
use crate::inventory::{Inventory, Live, UseInBatch};
use crate::lock::lock;
use crate::region::Treatment;
use crate::window::HeldFree;
use crate::{Agent, ClosingReason, Generation, ModuleVariable, Range, Region, Retired, ShadowMode};
use std::sync::atomic::Ordering;

/// Windows that a free ends before it goes on within one: other threads open them as fast.
const MOST_ENDED: u32 = 3;

impl<A: Agent> Engine<A> {
    /// A region is live: its allocation succeeded. Waits while a window of another thread is open.
    pub fn region_born(&self, region: Region) -> Generation {
        let range = region.range;
        let recordable = region.kind.treatment() == Treatment::Captured;
        // No window ends or opens while this is held.
        let hold = self.gate.share();
        let (generation, displaced) = self.change(|inventory| inventory.born(region));
        self.displaced(&displaced);
        drop(hold);
        if !displaced.is_empty() && self.process.first_warning("region_displaced") {
            let message = format!(
                "memory at {:#x} was allocated while an older allocation there was still known: its free was not seen",
                range.base
            );
            self.tell(vec![Event::Warn("region_displaced", message)]);
        }
        // The replays write what lingers, and this is nothing that they could put back.
        if !recordable && lock(&self.inventory).touches_lingering(range) {
            self.end_recording(ClosingReason::Freed);
        }
        generation
    }

    /// What is known of a live region has changed: who can write it, or whether it can be copied. It counts as a new
    /// generation from here on, and whatever else was known of its addresses is gone. Waits like [`Engine::region_born`].
    /// A batch window that puts any of it back is closed first, or is not replayed.
    pub fn region_changed(&self, region: Region) -> Generation {
        for _ in 0..MOST_ENDED {
            // No window opens while this is held, so what is in none now is not until it has changed.
            let hold = self.gate.share();
            if self.open_batch_now() != OpenBatch::Recording || !lock(&self.inventory).touches_batch(region.range) {
                let (generation, displaced) = self.change(|inventory| inventory.born(region));
                self.gone(&displaced);
                return generation;
            }
            drop(hold);
            self.end_recording(ClosingReason::Unrecordable);
            if self.gate.entered() {
                break;
            }
        }
        let _hold = self.gate.share();
        let (generation, displaced) = self.change(|inventory| inventory.born(region));
        // The region lives on and launches use it, but a window that is open now would not put it back.
        self.displaced(&displaced);
        generation
    }

    /// The region with this base is about to be freed; call it *before* the free. Waits while a window of another
    /// thread is open. `None` when no such region is known.
    pub fn region_retire(&self, base: u64) -> Option<Retired> {
        for _ in 0..MOST_ENDED {
            // No window opens while this is held, so what is not used now is not until it is retired.
            let hold = self.gate.share();
            if self.open_batch_now() != OpenBatch::Recording || !self.is_used(base) {
                return self.retire(base);
            }
            // What a batch window recorded may need it.
            drop(hold);
            self.end_recording(ClosingReason::Freed);
            if self.gate.entered() {
                break;
            }
        }
        self.retire(base)
    }

    /// As [`Engine::region_retire`], of memory that this agent cannot reach at all, so that no window needs it.
    pub fn region_retire_unreached(&self, base: u64) -> Option<Retired> {
        self.retire(base)
    }

    /// Whether recorded work may use the region with this base, so that a window ends when it is retired.
    pub fn is_used(&self, base: u64) -> bool {
        let used = lock(&self.inventory).use_in_batch(base);
        match used {
            UseInBatch::None => false,
            UseInBatch::Captured => true,
            UseInBatch::Unseen(born) => lock(&self.batch).as_ref().is_some_and(|batch| batch.launched_since(born)),
        }
    }

    fn retire(&self, base: u64) -> Option<Retired> {
        let retired = self.change(|inventory| inventory.retire(base))?;
        self.gone(std::slice::from_ref(&retired));
        Some(Retired(retired))
    }

    /// As [`Engine::region_retire`], of a region whose memory stays mapped where it is for a while, as memory does that goes
    /// back to a pool. While a batch window records, the region *lingers*: it is gone for whatever comes, and its addresses
    /// may be those of another region, but its window goes on and puts its content back for each pass. `over` is called
    /// when the window is over. Until then the interceptor sees to it that the memory stays, and [`Agent::kept`] tells
    /// whether it did.
    ///
    /// # Errors
    /// `over` itself, where no batch window records, no such region is known, or the counters have no room for the launches
    /// that the replays may take for it: retire the region.
    pub fn region_lingers(&self, base: u64, over: HeldFree) -> Result<Retired, HeldFree> {
        if self.open_batch_now() != OpenBatch::Recording || self.gate.owned() {
            return Err(over);
        }
        let _hold = self.gate.share();
        let mut batch = lock(&self.batch);
        let Some(batch) = batch.as_mut().filter(|batch| batch.records()) else { return Err(over) };
        let mut inventory = lock(&self.inventory);
        if !inventory.is_in_batch(base) {
            return Err(over);
        }
        let Some(live) = inventory.linger(base) else { return Err(over) };
        if let Err(over) = batch.linger(over) {
            inventory.reinstate(live);
            return Err(over);
        }
        self.inventory_changes.fetch_add(1, Ordering::Release);
        Ok(Retired(live))
    }

    /// Whether a batch window is open that records. Of use only to leave out what nobody would need; it may change at once.
    pub fn is_recording(&self) -> bool {
        self.open_batch_now() == OpenBatch::Recording
    }

    /// The free of a retired region failed: it is live after all.
    pub fn region_reinstate(&self, retired: Retired) {
        self.change(|inventory| inventory.reinstate(retired.0));
    }

    /// A call of the program (copy, memset) writes this range. Call it while the call's [`Engine::operation`] guard is
    /// held. Only `--shadow trusted` needs it; otherwise it costs nothing.
    pub fn region_written(&self, range: Range) {
        if self.process.settings.shadow == ShadowMode::Trusted {
            self.stale.written(range);
        }
    }

    /// A code object is loaded, with these variables. `code` stands for it until it is unloaded.
    pub fn code_loaded(&self, code: u64, variables: Vec<ModuleVariable>) {
        let _hold = self.gate.share();
        let displaced = self.change(|inventory| inventory.code_loaded(code, variables));
        self.displaced(&displaced);
    }

    /// A code object is about to be unloaded: its variables are gone. Waits like [`Engine::region_retire`].
    pub fn code_unloaded(&self, code: u64) {
        self.end_recording(ClosingReason::Unloaded);
        let gone = self.change(|inventory| inventory.code_unloaded(code));
        self.gone(&gone);
    }

    /// Changes the inventory while no window of another thread is open.
    fn change<T>(&self, change: impl FnOnce(&mut Inventory) -> T) -> T {
        let _hold = self.gate.share();
        let changed = change(&mut lock(&self.inventory));
        self.inventory_changes.fetch_add(1, Ordering::Release);
        changed
    }

    /// Regions are gone without a word, and recorded work may use them: an open window does not put them back. Called with the
    /// gate held since before they went.
    fn displaced(&self, regions: &[Live]) {
        self.gone(regions);
        if !regions.is_empty() && self.open_batch_now() == OpenBatch::Recording {
            self.spoil_batch();
        }
    }

    fn gone(&self, regions: &[Live]) {
        if regions.is_empty() {
            return;
        }
        let _hold = self.gate.share();
        let mut shadow = lock(&self.shadow);
        for region in regions {
            shadow.region_gone(region);
        }
    }
}
