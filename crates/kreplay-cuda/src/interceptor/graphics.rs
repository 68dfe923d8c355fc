//! Memory of graphics interfaces, mapped for kernels: the interface owns it, and shows or writes it when it likes, so kernels that
//! reach it decline.

use super::{Interceptor, locked};
use crate::tables::callback::{CallbackData, cbid};
use crate::tables::driver_structs::FirstPointer;
use crate::tables::foreign_structs::{
    EglFrame, EglFrameParams, MappedPointerParams, ReleaseFrameParams, UnmapResourcesParams,
};
use kreplay_engine::{ClosingReason, Range, Region, RegionKind, Writers};
use std::collections::HashMap;

/// Where memory is told of, or taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Graphics {
    /// A pointer into a resource.
    Pointer,
    /// Pointers to a frame's planes.
    Frame,
    /// A pointer into a buffer, in the oldest interface.
    Buffer,
    /// Resources are unmapped.
    Unmap,
    /// One is unregistered.
    Unregister,
    /// A frame is given back.
    ReleaseFrame,
    /// A buffer is unmapped or unregistered.
    ReleaseBuffer,
}

/// Bases of what is mapped, by resource.
#[derive(Debug, Default)]
pub(super) struct Mapped(HashMap<u64, Vec<u64>>);

/// Buffers of the oldest interface have numbers of 32 bits, which are no addresses as resources are.
fn buffer(number: u64) -> u64 {
    1 << 63 | number & u64::from(u32::MAX)
}

impl Graphics {
    /// What a function of the driver does so.
    pub(super) fn of(id: u32) -> Option<Self> {
        Some(match id {
            cbid::GRAPHICS_POINTER => Graphics::Pointer,
            cbid::GRAPHICS_EGL_FRAME => Graphics::Frame,
            cbid::GL_MAP | cbid::GL_MAP_PTDS | cbid::GL_MAP_ASYNC | cbid::GL_MAP_ASYNC_PTSZ => Graphics::Buffer,
            cbid::GRAPHICS_UNMAP | cbid::GRAPHICS_UNMAP_PTSZ => Graphics::Unmap,
            cbid::GRAPHICS_UNREGISTER => Graphics::Unregister,
            cbid::EGL_RELEASE_FRAME => Graphics::ReleaseFrame,
            cbid::GL_UNMAP | cbid::GL_UNMAP_ASYNC | cbid::GL_UNREGISTER => Graphics::ReleaseBuffer,
            _ => return None,
        })
    }

    fn takes_away(self) -> bool {
        !matches!(self, Graphics::Pointer | Graphics::Frame | Graphics::Buffer)
    }
}

impl Interceptor {
    /// *Enter* of what takes memory away: a recorded launch may use it.
    pub(super) fn graphics_enter(&self, data: &CallbackData, graphics: Graphics) {
        if !graphics.takes_away() {
            return;
        }
        self.end_recordings(ClosingReason::Freed);
        let mapped = locked(&self.graphics);
        let gone = released(data, graphics).into_iter().filter_map(|resource| mapped.0.get(&resource));
        let bases: Vec<u64> = gone.flatten().copied().collect();
        drop(mapped);
        self.retire(data, &bases, &|state, base| state.region_retire(base));
    }

    /// *Exit*, when it succeeded.
    pub(super) fn graphics_exit(&self, data: &CallbackData, graphics: Graphics) {
        if graphics.takes_away() {
            let mut mapped = locked(&self.graphics);
            released(data, graphics).iter().for_each(|resource| drop(mapped.0.remove(resource)));
            return;
        }
        let (resource, ranges) = match graphics {
            Graphics::Pointer | Graphics::Buffer => {
                // SAFETY: CUPTI hands the parameters of a function of these classes.
                let p = unsafe { data.parameters.cast::<MappedPointerParams>().read() };
                if p.pointer.is_null() {
                    return;
                }
                // SAFETY: the driver has just written its result there.
                let base = unsafe { p.pointer.read() };
                let told = if p.bytes.is_null() {
                    0
                } else {
                    // SAFETY: as above.
                    unsafe { p.bytes.read() as u64 }
                };
                let bytes = if told == 0 { self.allocation_bytes(base) } else { told };
                let resource = if graphics == Graphics::Buffer { buffer(p.resource) } else { p.resource };
                (resource, vec![Range::new(base, bytes)])
            }
            Graphics::Frame => {
                // SAFETY: as above.
                let p = unsafe { data.parameters.cast::<EglFrameParams>().read() };
                // SAFETY: as above.
                let planes = if p.frame.is_null() { Vec::new() } else { planes(&unsafe { p.frame.read() }) };
                (p.resource, planes.into_iter().map(|base| Range::new(base, self.allocation_bytes(base))).collect())
            }
            _ => return,
        };
        for range in ranges.into_iter().filter(|range| range.base != 0) {
            // It is asked for again while it is mapped.
            let known = locked(&self.live).is_at(range.base);
            if !known {
                locked(&self.graphics).0.entry(resource).or_default().push(range.base);
                self.born(Some(data.context), Region { range, kind: RegionKind::Imported, writers: Writers::Others });
            }
        }
    }
}

/// Which resources a call takes away.
fn released(data: &CallbackData, graphics: Graphics) -> Vec<u64> {
    match graphics {
        Graphics::Unmap => {
            // SAFETY: CUPTI hands the parameters of a function of this class.
            let p = unsafe { data.parameters.cast::<UnmapResourcesParams>().read() };
            if p.resources.is_null() {
                return Vec::new();
            }
            // SAFETY: the program hands that many resources to the driver.
            unsafe { std::slice::from_raw_parts(p.resources, p.count as usize) }.to_vec()
        }
        // SAFETY: as above.
        Graphics::ReleaseFrame => vec![unsafe { data.parameters.cast::<ReleaseFrameParams>().read() }.resource],
        Graphics::Unregister | Graphics::ReleaseBuffer => {
            // SAFETY: as above; the resource or the buffer's number is first, and there is room for a pointer.
            let first = unsafe { data.parameters.cast::<FirstPointer>().read() }.first as u64;
            vec![if graphics == Graphics::Unregister { first } else { buffer(first) }]
        }
        Graphics::Pointer | Graphics::Frame | Graphics::Buffer => Vec::new(),
    }
}

/// Where a frame's planes lie, unless they are arrays.
fn planes(frame: &EglFrame) -> Vec<u64> {
    const MEMORY: u32 = 1;
    let count = if frame.kind == MEMORY { frame.planes.len().min(frame.plane_count as usize) } else { 0 };
    frame.planes[..count].to_vec()
}
