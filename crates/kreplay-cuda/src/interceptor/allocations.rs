//! Allocations of every class, and their ends.

use super::context::{ContextState, Gone};
use super::ids::Allocation;
use super::pending::{Pending, push};
use super::{Interceptor, locked};
use crate::tables::MemoryPool;
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::*;
use kreplay_engine::{Agent, ClosingReason, Range, Region, RegionKind, Writers};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Allocations from this size on may need memory that an idle shadow holds.
const WORTH_ASKING: u64 = 1 << 20;

/// How long an allocation that may not fit waits for the device, so that pools give memory back.
const BRIEF: Duration = Duration::from_millis(500);

impl Interceptor {
    /// *Enter* of an allocation: when it would not fit, what the engine holds idle is freed first, and what pools hold for
    /// an open window.
    pub(super) fn allocate_enter(&self, data: &CallbackData, class: Allocation) {
        let bytes = match class {
            // SAFETY: CUPTI hands the parameters of the function that the class belongs to.
            Allocation::Plain => unsafe { data.parameters.cast::<MemAllocParams>().read() }.bytes as u64,
            // SAFETY: as above.
            Allocation::Pool => unsafe { data.parameters.cast::<MemAllocAsyncParams>().read() }.bytes as u64,
            _ => return,
        };
        if bytes < WORTH_ASKING || self.capturing() {
            return;
        }
        let state = self.context(data.context);
        let Some(driven) = state.driven() else { return };
        let held = self.pools.any_held();
        if !held && driven.engine.shadow_bytes() == 0 {
            return;
        }
        let _depth = crate::agent::Depth::enter();
        let room = self.driver.memory().map_or(u64::MAX, |(free, _)| free);
        if room < bytes + (64 << 20) {
            if held {
                self.close_windows(ClosingReason::Memory);
                // A synchronise that the program made within the window would have given back what its pools hold.
                let _ = driven.agent.drain(Instant::now() + BRIEF);
            }
            driven.engine.release_idle();
        }
    }

    /// *Exit* of an allocation that succeeded.
    pub(super) fn allocate_exit(&self, data: &CallbackData, class: Allocation) {
        let read = |pointer: *const u64| {
            if pointer.is_null() {
                return 0;
            }
            // SAFETY: the driver has just written its result there.
            unsafe { pointer.read() }
        };
        let p = data.parameters;
        let (base, bytes, kind, writers) = match class {
            Allocation::Plain => {
                // SAFETY: CUPTI hands the parameters of the function that the class belongs to.
                let p = unsafe { p.cast::<MemAllocParams>().read() };
                (read(p.pointer), p.bytes as u64, RegionKind::Device, Writers::Seen)
            }
            Allocation::Pitch => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<MemAllocPitchParams>().read() };
                let bytes = read(p.pitch.cast()) * p.height as u64;
                (read(p.pointer), bytes, RegionKind::Device, Writers::Seen)
            }
            Allocation::Pool => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<MemAllocAsyncParams>().read() };
                let base = read(p.pointer);
                let (kind, writers) = self.pool_kind(data.context, base, None);
                (base, p.bytes as u64, kind, writers)
            }
            Allocation::FromPool => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<MemAllocFromPoolParams>().read() };
                let base = read(p.pointer);
                let (kind, writers) = self.pool_kind(data.context, base, Some(MemoryPool(p.pool)));
                (base, p.bytes as u64, kind, writers)
            }
            Allocation::Managed => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<MemAllocManagedParams>().read() };
                (read(p.pointer), p.bytes as u64, RegionKind::Managed { copyable: false }, Writers::Others)
            }
            Allocation::Host => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<HostAllocParams>().read() };
                (read(p.pointer), p.bytes as u64, RegionKind::Host { copyable: false }, Writers::Others)
            }
            Allocation::OldHost => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<OldHostAllocParams>().read() };
                (read(p.pointer), u64::from(p.bytes), RegionKind::Host { copyable: false }, Writers::Others)
            }
            Allocation::HostRegister => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<HostRegisterParams>().read() };
                (p.pointer, p.bytes as u64, RegionKind::Host { copyable: false }, Writers::Others)
            }
            Allocation::Ipc | Allocation::ImportedPool => {
                // SAFETY: both have the pointer to the result first.
                let base = read(unsafe { p.cast::<*const u64>().read() });
                (base, self.allocation_bytes(base), RegionKind::Imported, Writers::Others)
            }
            Allocation::External => {
                // SAFETY: as above.
                let p = unsafe { p.cast::<MappedBufferParams>().read() };
                // SAFETY: the program hands a description to the driver; its second word is the size.
                let bytes = if p.description.is_null() { 0 } else { unsafe { (*p.description)[1] } };
                (read(p.pointer), bytes, RegionKind::Imported, Writers::Others)
            }
        };
        if base == 0 || bytes == 0 {
            return;
        }
        if class == Allocation::Ipc && !self.opened.open(base) && locked(&self.live).is_at(base) {
            return;
        }
        // Managed and host memory is reached from every context.
        let shared = matches!(kind, RegionKind::Managed { .. } | RegionKind::Host { .. });
        let region = Region { range: Range::new(base, bytes), kind, writers };
        self.born((!shared).then_some(data.context), region);
    }

    /// Bytes of an allocation of another process or interface.
    pub(super) fn allocation_bytes(&self, base: u64) -> u64 {
        let _depth = crate::agent::Depth::enter();
        self.driver.allocation(base).map_or(1, |(_, bytes)| bytes)
    }

    /// *Enter* of a free: what it names is retired first.
    pub(super) fn free_enter(&self, data: &CallbackData) {
        // SAFETY: every function of this class has the address first.
        let base = unsafe { data.parameters.cast::<FreeParams>().read() }.pointer;
        self.retire(data, &[base], &|state, base| state.region_retire(base));
    }

    /// Retires regions everywhere, until *exit* says that they did not go. `retire` does it in one context.
    pub(super) fn retire(
        &self,
        data: &CallbackData,
        bases: &[u64],
        retire: &dyn Fn(&Arc<ContextState>, u64) -> Option<Gone>,
    ) {
        let live: Vec<_> = bases.iter().filter_map(|base| self.forget(*base)).collect();
        if live.len() < bases.iter().filter(|base| **base != 0).count() {
            // Nobody told of it, but a recorded launch may use it.
            self.end_recordings(ClosingReason::Freed);
        }
        let mut gone: Vec<(Arc<ContextState>, Gone)> = Vec::new();
        for state in self.all_contexts() {
            for base in bases {
                if let Some(region) = retire(&state, *base) {
                    gone.push((Arc::clone(&state), region));
                }
            }
        }
        let pooled = bases.iter().find_map(|base| self.pools.freed(*base));
        if !gone.is_empty() || pooled.is_some() {
            push(data.correlation_id, Pending::Retired { gone, live, pooled });
        }
    }

    /// *Exit* of `cuSurfObjectCreate`.
    pub(super) fn surface_created(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let p = unsafe { data.parameters.cast::<SurfaceCreateParams>().read() };
        if !p.object.is_null() {
            // SAFETY: the driver has just written its result there.
            locked(&self.surfaces).insert(unsafe { p.object.read() });
        }
    }

    /// *Enter* of `cuSurfRefSetArray`: which kernels write the array from now on nobody can tell.
    pub(super) fn surface_referenced(&self) {
        self.end_recordings(ClosingReason::Unrecordable);
        self.surface_references.store(true, Ordering::Relaxed);
    }

    /// *Enter* of `cuSurfObjectDestroy`.
    pub(super) fn surface_destroyed(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let object = unsafe { data.parameters.cast::<FreeParams>().read() }.pointer;
        // One that lies in memory is not seen in the arguments.
        self.end_recordings(ClosingReason::Freed);
        locked(&self.surfaces).remove(&object);
    }

    /// *Enter* of `cuModuleUnload`.
    pub(super) fn module_unloading(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let handle: *mut c_void = unsafe { data.parameters.cast::<UnloadParams>().read() }.handle;
        // Of whichever context: another one may be current.
        for state in self.all_contexts() {
            state.functions.unloaded(&state, Some(crate::tables::Module(handle)));
        }
        self.attributes.forget();
    }

    /// *Enter* of `cuLibraryUnload`: its module of every context.
    pub(super) fn library_unloading(&self, data: &CallbackData) {
        // SAFETY: CUPTI hands the parameters of this function.
        let library: *mut c_void = unsafe { data.parameters.cast::<UnloadParams>().read() }.handle;
        for state in self.all_contexts() {
            let module = if self.capturing() {
                None
            } else {
                state.driven().and_then(|driven| driven.agent.library_module(library))
            };
            state.functions.unloaded(&state, module);
        }
        self.attributes.forget();
    }
}
