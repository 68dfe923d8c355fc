//! One kernel dispatch: checked, run, recorded, and made to misbehave where a fault is put in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Ring;
use super::error::{Code, Stop};
use super::packet::KernelDispatch;
use crate::contract::{DispatchRequest, ExecOptions, Memory};
use crate::device::{Device, oracle};
use crate::fault::Hit;
use crate::memory::{Recorder, View, WriteSet};
use crate::topology::{LDS_BYTES, MAX_WORKGROUP, PAGE};

/// How a dispatch ended.
pub(super) enum Done {
    /// It ran; its completion signal is to be decremented.
    Complete,
    /// It ran, but a fault keeps its signal from being decremented.
    Silent,
    /// It was cancelled with its queue.
    Cancelled,
}

/// Runs the dispatch of the packet at `address`.
pub(super) fn run(device: &Device, ring: &Ring, address: u64, packet: &KernelDispatch) -> Result<Done, Stop> {
    check(device, packet)?;
    let hit = device.faults.dispatch(packet.kernel_object);
    for (at, bytes) in &hit.foreign_writes {
        foreign_write(device, *at, bytes)?;
    }
    let id = device.totals.dispatches.fetch_add(1, Ordering::Relaxed) + 1;
    if let Some(code) = hit.queue_error {
        return Err(Stop { code, message: format!("dispatch {id}: fault put in"), access: None });
    }
    if hit.spin && !spin(device, ring) {
        return Ok(Done::Cancelled);
    }
    let recorder = (device.oracle.on() || hit.needs_recorder()).then(Recorder::new);
    let view = View::new(&device.memory, recorder.as_ref());
    let request = DispatchRequest {
        packet: address,
        queue: ring.amd_queue,
        kernel_object: packet.kernel_object,
        kernarg: packet.kernarg,
        grid: packet.grid,
        workgroup: packet.workgroup,
        private_bytes: packet.private_bytes,
        group_bytes: packet.group_bytes,
        id,
    };
    let options =
        ExecOptions { seed: device.config.seed, threads: device.config.threads, cancel: Arc::clone(&ring.cancel) };
    let running = device.sampler.began();
    let stats = match crate::exec::run(&request, &view, &options) {
        Ok(stats) => stats,
        Err(fault) => {
            let Some(stop) = Stop::fault(&fault) else { return Ok(Done::Cancelled) };
            let message = format!("dispatch {id} of kernel object {:#x}: {}", packet.kernel_object, stop.message);
            return Err(Stop { message, ..stop });
        }
    };
    if let Some(recorder) = &recorder {
        misbehave(device, &hit, recorder)?;
        if device.oracle.on() {
            // SAFETY: `view` still holds everything that the dispatch could store to.
            let writes = unsafe { recorder.write_set() };
            record(device, ring, &request, packet.completion_signal, writes);
        }
    }
    device.counters.accumulate(&stats);
    device.sampler.ended(running, &stats, &device.faults);
    drop(view);
    Ok(if hit.drop_signal { Done::Silent } else { Done::Complete })
}

/// Refuses what the packet processor of a real GPU refuses.
fn check(device: &Device, packet: &KernelDispatch) -> Result<(), Stop> {
    let [x, y, z] = packet.workgroup;
    let items = u64::from(x) * u64::from(y) * u64::from(z);
    let dimensions = packet.setup & 3;
    if dimensions == 0 || items == 0 || packet.grid.contains(&0) {
        let (group, grid) = (packet.workgroup, packet.grid);
        let what = format_args!("dispatch of {dimensions} dimensions, grid {grid:?}, work-group {group:?}").to_string();
        return Err(Stop::new(Code::Dimensions, what));
    }
    if items > u64::from(MAX_WORKGROUP) {
        let what = format!("work-group of {items} work-items; {MAX_WORKGROUP} are possible");
        return Err(Stop::new(Code::GroupSize, what));
    }
    if packet.group_bytes > LDS_BYTES {
        let what = format!("work-group asks for {} bytes of LDS; {LDS_BYTES} are possible", packet.group_bytes);
        return Err(Stop::new(Code::GroupMemory, what));
    }
    let kernel = packet.kernel_object;
    if kernel == 0 || !kernel.is_multiple_of(64) || device.memory.table().check(kernel, 64, false).is_err() {
        let what =
            format!("kernel object {kernel:#x} is not the aligned address of a kernel descriptor in mapped memory");
        return Err(Stop::new(Code::CodeObject, what));
    }
    Ok(())
}

/// Somebody else's write, at a place where the GPU's memory is.
fn foreign_write(device: &Device, address: u64, bytes: &[u8]) -> Result<(), Stop> {
    write_behind(device, address, bytes).map_err(|bad| Stop::access("foreign write put in", bad))
}

/// Writes bytes into the GPU's memory without anybody being told.
///
/// # Errors
/// [`crate::contract::BadAddress`] when they are not mapped for stores.
pub fn write_behind(device: &Device, address: u64, bytes: &[u8]) -> Result<(), crate::contract::BadAddress> {
    let view = View::new(&device.memory, None);
    let at = view.host(address, bytes.len() as u64, true)?;
    for (i, byte) in bytes.iter().enumerate() {
        // SAFETY: `host` says that all bytes are mapped for stores while `view` lives.
        unsafe { AtomicU8::from_ptr(at.add(i)) }.store(*byte, Ordering::Relaxed);
    }
    Ok(())
}

/// A dispatch that does not get on, until faults are taken out; `false` when its queue is destroyed first.
fn spin(device: &Device, ring: &Ring) -> bool {
    let cleared = device.faults.cleared();
    let mut backoff = super::backoff::Backoff::default();
    while device.faults.cleared() == cleared {
        if ring.cancelled() {
            return false;
        }
        backoff.wait();
    }
    true
}

/// Faults in what the dispatch wrote.
fn misbehave(device: &Device, hit: &Hit, recorder: &Recorder) -> Result<(), Stop> {
    if let Some(chunk) = hit.missed_write {
        // SAFETY: the dispatch's view still holds everything that it could store to.
        let undone = unsafe { recorder.undo_first_chunk(chunk) };
        if undone.is_none() {
            crate::device::say(&"missed-write put in, but the dispatch changed nothing");
        }
    }
    if let Some(wanted) = hit.escaped_write {
        match wanted.or_else(|| untouched_page(device, recorder)) {
            None => crate::device::say(&"escaped-write put in, but the dispatch wrote to every page there is"),
            Some(address) => {
                let view = View::new(&device.memory, None);
                let at = view.host(address, 1, true).map_err(|bad| Stop::access("escaped write put in", bad))?;
                // SAFETY: `host` says that the byte is mapped for stores while `view` lives.
                unsafe { AtomicU8::from_ptr(at) }.fetch_xor(0x5a, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

/// A page of device memory that the dispatch did not store to: the one behind its own pages where there is one, since a page far
/// away may hold code.
fn untouched_page(device: &Device, recorder: &Recorder) -> Option<u64> {
    let vram = device.memory.mapped_vram();
    let free = |page: &u64| !recorder.touched_page(*page);
    let mapped = |page: &u64| vram.iter().any(|(base, end)| (*base..*end).contains(page));
    let behind = recorder.pages().into_iter().map(|page| page + PAGE).find(|page| free(page) && mapped(page));
    behind.or_else(|| vram.iter().flat_map(|&(base, end)| (base..end).step_by(PAGE as usize)).find(free))
}

fn record(device: &Device, ring: &Ring, request: &DispatchRequest, completion_signal: u64, writes: WriteSet) {
    device.oracle.record(oracle::Record {
        dispatch: request.id,
        queue: ring.id,
        kernel_object: request.kernel_object,
        kernarg: request.kernarg,
        completion_signal,
        grid: request.grid,
        writes,
    });
}
