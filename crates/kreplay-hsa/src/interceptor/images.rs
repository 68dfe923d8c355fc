//! Images and samplers: kernels are given their handles, which are addresses; and calls of the extension write images, which lie
//! in memory that windows put back.

use super::guard;
use super::state::{Backend, backend};
use crate::abi::{AgentHandle, Dim3, Image, Sampler, Status};
use kreplay_engine::{ClosingReason, Range};
use std::ffi::c_void;

impl Backend {
    /// What recorded launches of this GPU may use is about to be destroyed.
    fn handle_goes(&self, place: &'static str, agent: AgentHandle) {
        let ours = || {
            if let Some(unit) = self.unit(agent) {
                self.end_recording(unit, ClosingReason::Freed);
            }
        };
        if self.is_on() {
            guard(place, ours, || ());
        }
    }

    /// Makes a call that writes memory of this GPU, or reads it for the host, and is over when it returns.
    fn image_call(&self, place: &'static str, agent: AgentHandle, call: impl FnOnce() -> Status) -> Status {
        if !self.is_on() {
            return call();
        }
        let ours = || {
            let unit = self.unit(agent)?;
            let held = unit.engine.operation();
            unit.agent.program().submits();
            // Where an image lies is not known.
            unit.engine.region_written(Range::new(0, u64::MAX));
            Some(held)
        };
        let held = guard(place, ours, || None);
        let status = call();
        drop(held);
        status
    }
}

/// `hsa_ext_image_destroy`.
pub(super) unsafe extern "C" fn image_destroy(agent: AgentHandle, image: Image) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.image_destroy else { return Status::ERROR };
    backend.handle_goes("hsa_ext_image_destroy", agent);
    // SAFETY: the program's own arguments.
    unsafe { original(agent, image) }
}

/// `hsa_ext_sampler_destroy`.
pub(super) unsafe extern "C" fn sampler_destroy(agent: AgentHandle, sampler: Sampler) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.sampler_destroy else { return Status::ERROR };
    backend.handle_goes("hsa_ext_sampler_destroy", agent);
    // SAFETY: the program's own arguments.
    unsafe { original(agent, sampler) }
}

/// `hsa_ext_image_import`.
pub(super) unsafe extern "C" fn image_import(
    agent: AgentHandle,
    from: *const c_void,
    pitch: usize,
    slice: usize,
    to: Image,
    region: *const c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.image_import else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    backend.image_call("hsa_ext_image_import", agent, || unsafe { original(agent, from, pitch, slice, to, region) })
}

/// `hsa_ext_image_export`: the host's memory that it writes may be a GPU's too.
pub(super) unsafe extern "C" fn image_export(
    agent: AgentHandle,
    from: Image,
    to: *mut c_void,
    pitch: usize,
    slice: usize,
    region: *const c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.image_export else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    backend.image_call("hsa_ext_image_export", agent, || unsafe { original(agent, from, to, pitch, slice, region) })
}

/// `hsa_ext_image_copy`.
pub(super) unsafe extern "C" fn image_copy(
    agent: AgentHandle,
    from: Image,
    from_offset: *const Dim3,
    to: Image,
    to_offset: *const Dim3,
    range: *const Dim3,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.image_copy else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    let call = || unsafe { original(agent, from, from_offset, to, to_offset, range) };
    backend.image_call("hsa_ext_image_copy", agent, call)
}

/// `hsa_ext_image_clear`.
pub(super) unsafe extern "C" fn image_clear(
    agent: AgentHandle,
    image: Image,
    content: *const c_void,
    region: *const c_void,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.image_clear else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    backend.image_call("hsa_ext_image_clear", agent, || unsafe { original(agent, image, content, region) })
}
