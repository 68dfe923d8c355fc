//! The callback: what CUPTI calls on the program's threads.

use super::Interceptor;
use super::call::{call_name, note_stream};
use super::ids::{Class, class, may_wait};
use super::pending::{Pending, pop};
use crate::cubin::Cubin;
use crate::tables::callback::{CallbackData, ENTER, ModuleData, ResourceData, domain, resource};
use crate::tables::driver_structs::UnloadParams;
use crate::tables::{Context, Stream};
use kreplay_engine::{ClosingReason, InCall};
use std::ffi::c_void;

impl Interceptor {
    /// One callback.
    ///
    /// # Safety
    /// `data` is what CUPTI hands to a callback of this domain and id.
    pub(super) unsafe fn callback(&self, domain: u32, id: u32, data: *const c_void) {
        if data.is_null() {
            return;
        }
        let alive = self.is_alive();
        if !alive && super::forked::in_child() {
            return;
        }
        match domain {
            domain::DRIVER => {
                if crate::agent::inside() {
                    return;
                }
                let Some(class) = class(id) else { return };
                // SAFETY: the data of the driver domain, promised by the caller.
                let data = unsafe { &*data.cast::<CallbackData>() };
                if data.site != ENTER {
                    // What *enter* began ends, whoever is gone since.
                    self.exit(class, data);
                } else if alive {
                    if let Some(per_thread) = may_wait(id) {
                        // SAFETY: CUPTI hands the parameters of such a function, which begin with its stream.
                        note_stream(unsafe { data.parameters.cast::<Stream>().read() }, per_thread);
                    }
                    self.enter(class, id, data);
                } else {
                    self.part();
                }
            }
            // What is known of a context or a stream goes with it in any case.
            domain::RESOURCE
                if alive || matches!(id, resource::CONTEXT_DESTROY_STARTING | resource::STREAM_DESTROY_STARTING) =>
            {
                // SAFETY: the data of the resource domain, promised by the caller.
                let data = unsafe { &*data.cast::<ResourceData>() };
                self.resource(id, data);
            }
            _ => {}
        }
    }

    fn enter(&self, class: Class, id: u32, data: &CallbackData) {
        let launch = matches!(class, Class::Launch { .. });
        let _call = if launch { None } else { call_name(data).map(InCall::new) };
        match class {
            Class::Launch { form, per_thread } => self.launch_enter(data, form, per_thread),
            Class::Graph { per_thread } => self.graph_enter(data, per_thread),
            Class::DestroyGraph => self.graph_destroyed(data),
            Class::Allocate(allocation) => {
                self.allocate_enter(data, allocation);
                self.pools_before(data, allocation);
            }
            Class::Free => self.free_enter(data),
            Class::CloseIpc => self.ipc_closing(data),
            Class::FreeToPool => self.free_to_pool_enter(data),
            Class::TrimPool | Class::DestroyPool => self.shrink_pool_enter(class, data),
            Class::PoolAttribute => self.pool_attribute_enter(data),
            Class::Unmap => self.unmap_enter(data),
            Class::SurfaceDestroy => self.surface_destroyed(data),
            Class::SurfaceReference => self.surface_referenced(),
            Class::UnloadModule => self.module_unloading(data),
            Class::UnloadLibrary => self.library_unloading(data),
            Class::EndsRecording(reason) => self.end_recordings(reason),
            Class::SetAccess => self.access_enter(data),
            Class::SharePool => self.pool_shared(),
            Class::FunctionAttribute { kernel } => self.attribute_enter(data, kernel),
            Class::DestroyGreen => self.green_destroyed(data),
            Class::HostFunction => self.host_function(),
            Class::BeginCapture { .. } => self.capture_enter(data),
            Class::Operation(written) => self.operation_enter(data, id, written),
            Class::Graphics(graphics) => self.graphics_enter(data, graphics),
            Class::Newer => self.newer_enter(data, id),
            Class::Waits
            | Class::Map
            | Class::SurfaceCreate
            | Class::EndCapture { .. }
            | Class::ChangeGraph(_)
            | Class::Foreign(_) => {}
        }
    }

    fn exit(&self, class: Class, data: &CallbackData) {
        let returned = if data.returned.is_null() {
            0
        } else {
            // SAFETY: in *exit* this points to the status that the program gets.
            unsafe { data.returned.read() }
        };
        if let Class::Launch { .. } = class {
            return self.launch_exit(data, returned);
        }
        // Before the guard goes: a window that closes may use what the driver has taken away.
        match class {
            Class::Allocate(allocation) => self.pools_after(data, allocation, returned == 0),
            Class::TrimPool | Class::PoolAttribute if returned == 0 => self.pool_changed(class, data),
            _ => {}
        }
        match pop(data.correlation_id) {
            Some(Pending::Retired { gone, live, pooled }) if returned != 0 => {
                if let Some(pooled) = pooled {
                    self.pools.not_freed(pooled);
                }
                for (owner, region) in live {
                    self.remember(owner, region);
                }
                for (state, gone) in gone {
                    state.region_reinstate(gone);
                }
            }
            Some(Pending::Capture(beginning)) if returned == 0 => self.capture_began(data, class, beginning),
            Some(pending) if returned != 0 => pending.refused(|what| self.driver.status_name(what, returned)),
            Some(pending) => pending.submitted(),
            None => {}
        }
        match class {
            Class::EndCapture { per_thread } => self.capture_exit(data, per_thread, returned),
            Class::Unmap => self.unmap_exit(data, returned == 0),
            Class::CloseIpc if returned != 0 => self.ipc_stays(data),
            _ => {}
        }
        if returned != 0 {
            return;
        }
        match class {
            Class::Allocate(allocation) => self.allocate_exit(data, allocation),
            Class::ChangeGraph(change) => self.graph_changed(data, change),
            Class::Map => self.map_exit(data),
            Class::SetAccess => self.access_exit(data),
            Class::FunctionAttribute { kernel } => self.attribute_exit(data, kernel),
            Class::SurfaceCreate => self.surface_created(data),
            Class::Foreign(foreign) => self.foreign_exit(data, foreign),
            Class::Graphics(graphics) => self.graphics_exit(data, graphics),
            _ => {}
        }
    }

    /// What is known of a context ends with it.
    fn context_ends(&self, context: Context) {
        self.each_driven(|driven| driven.agent.forget_writer(context));
        let state = self.forget_context(context);
        super::recent::forget();
        if let Some(state) = state {
            state.finish();
        }
    }

    /// *Enter* of `cuGreenCtxDestroy`. Its memory is that of the device's primary context, and stays.
    fn green_destroyed(&self, data: &CallbackData) {
        self.end_recordings(ClosingReason::Exit);
        // SAFETY: CUPTI hands the parameters of this function.
        let green = unsafe { data.parameters.cast::<UnloadParams>().read() }.handle;
        let context = {
            let _depth = crate::agent::Depth::enter();
            self.driver.context_of_green(green)
        };
        if let Some(context) = context {
            self.context_ends(context);
        }
    }

    fn resource(&self, id: u32, data: &ResourceData) {
        match id {
            resource::CONTEXT_CREATED => {
                self.context(data.context);
                if let Some(ready) = &self.ready {
                    ready(data.context);
                }
            }
            resource::CONTEXT_DESTROY_STARTING => {
                self.captures.context_gone(data.context);
                self.context_ends(data.context);
                self.context_gone(data.context);
                self.pools.forget();
                self.pool_places.forget();
            }
            resource::STREAM_CREATED if !crate::agent::inside() => self.context(data.context).stream_born(data.stream),
            resource::STREAM_DESTROY_STARTING => {
                self.captures.stream_gone(data.stream);
                // It may go after its context, of which nothing is to be known any more.
                if let Some(state) = self.contexts.get(data.context) {
                    state.stream_retired(data.stream);
                }
            }
            resource::MODULE_LOADED if !data.description.is_null() => {
                // SAFETY: the description of this id, valid in the callback.
                let module = unsafe { data.description.cast::<ModuleData>().read() };
                if module.image.is_null() || module.bytes == 0 {
                    return;
                }
                // SAFETY: CUPTI says how many bytes the image has.
                let image = unsafe { std::slice::from_raw_parts(module.image, module.bytes) };
                // Code that cannot be read has no variables that could be found; its kernels are replayed all the same,
                // and what they write elsewhere is found by comparing.
                if let Ok(cubin) = Cubin::parse(image) {
                    self.context(data.context).functions.loaded(cubin);
                }
            }
            _ => {}
        }
    }
}
