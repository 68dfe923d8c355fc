//! Events.

use std::time::Duration;

use softgpu::device::Device;
use softgpu::event::{EventError, EventKind, Raised};
use softgpu::topology::GPU_NODE;

use crate::guard::{device, guard, out};
use crate::types::{
    EVENT_MEMORY, EVENT_SIGNAL, Event, EventDescriptor, EventPayload, FAILURE_HANG, FAILURE_NOT_PRESENT,
    FAILURE_READ_ONLY, FAULT_FATAL_PROCESS, MemoryAccessFault, Status,
};

/// Milliseconds that mean "for ever".
const INFINITE: u32 = u32::MAX;

fn status(error: EventError) -> Status {
    match error {
        EventError::TooMany => Status::OutOfResources,
        EventError::Unknown(_) => Status::InvalidHandle,
    }
}

/// Makes an event.
///
/// # Safety
/// The pointers must be valid or null, as for every function of the thunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtCreateEvent(
    descriptor: *mut EventDescriptor,
    manual_reset: bool,
    is_signaled: bool,
    event: *mut *mut Event,
) -> Status {
    guard(|| {
        // SAFETY: the caller passes valid pointers or null.
        let (descriptor, event) = unsafe { (out(descriptor)?, out(event)?) };
        let device = device()?;
        let kind = match descriptor.kind {
            EVENT_SIGNAL => EventKind::Signal,
            EVENT_MEMORY => EventKind::Memory,
            other => EventKind::Other(other),
        };
        let id = device.events.create(kind, manual_reset, is_signaled).map_err(status)?;
        let made = Event {
            id,
            kind: descriptor.kind,
            payload: EventPayload { sync_var: descriptor.sync_var },
            hw_data1: u64::from(id),
            hw_data2: device.mailboxes.address(id),
            hw_data3: id,
        };
        *event = Box::into_raw(Box::new(made));
        Ok(())
    })
}

/// Ends an event.
///
/// # Safety
/// `event` must have been made by [`hsaKmtCreateEvent`] and not be used again, or be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtDestroyEvent(event: *mut Event) -> Status {
    guard(|| {
        if event.is_null() {
            return Err(Status::InvalidHandle);
        }
        // SAFETY: made by `Box::into_raw` in `hsaKmtCreateEvent`, and given up by the caller.
        let event = unsafe { Box::from_raw(event) };
        device()?.events.destroy(event.id).map_err(status)
    })
}

/// Raises an event.
///
/// # Safety
/// `event` must be a live event or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtSetEvent(event: *mut Event) -> Status {
    // SAFETY: as this function's.
    guard(|| device()?.events.set(unsafe { id(event) }?).map_err(status))
}

/// Takes an event's raise back.
///
/// # Safety
/// `event` must be a live event or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtResetEvent(event: *mut Event) -> Status {
    // SAFETY: as this function's.
    guard(|| device()?.events.reset(unsafe { id(event) }?).map_err(status))
}

/// Tells whether an event stands raised.
///
/// # Safety
/// `event` must be a live event or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtQueryEventState(event: *mut Event) -> Status {
    guard(|| {
        // SAFETY: as this function's.
        let raised = device()?.events.is_set(unsafe { id(event) }?).map_err(status)?;
        if raised { Ok(()) } else { Err(Status::WaitTimeout) }
    })
}

/// Waits for one event.
///
/// # Safety
/// `event` must be a live event or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtWaitOnEvent(event: *mut Event, milliseconds: u32) -> Status {
    // SAFETY: as this function's; the list is one event long.
    guard(|| unsafe { wait(&[event], true, milliseconds, None) })
}

/// Waits for one event that is older than what the caller has seen (ROCr 1.10 and later).
///
/// # Safety
/// `event` must be a live event or null, `age` valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtWaitOnEvent_Ext(event: *mut Event, milliseconds: u32, age: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        let ages = unsafe { age.as_mut() }.map(std::slice::from_mut);
        // SAFETY: as this function's; the lists are one long.
        unsafe { wait(&[event], true, milliseconds, ages) }
    })
}

/// Waits for one or all of several events.
///
/// # Safety
/// `events` must be valid for `count` pointers, each a live event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtWaitOnMultipleEvents(
    events: *mut *mut Event,
    count: u32,
    wait_on_all: bool,
    milliseconds: u32,
) -> Status {
    // SAFETY: as this function's.
    unsafe { hsaKmtWaitOnMultipleEvents_Ext(events, count, wait_on_all, milliseconds, std::ptr::null_mut()) }
}

/// Waits for one or all of several events that are older than what the caller has seen (ROCr 1.10 and later).
///
/// # Safety
/// `events` must be valid for `count` pointers, each a live event; `ages` for `count` numbers, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtWaitOnMultipleEvents_Ext(
    events: *mut *mut Event,
    count: u32,
    wait_on_all: bool,
    milliseconds: u32,
    ages: *mut u64,
) -> Status {
    guard(|| {
        if events.is_null() {
            return Err(Status::InvalidHandle);
        }
        let count = count as usize;
        // SAFETY: the caller's lists hold `count` entries.
        let list = unsafe { std::slice::from_raw_parts(events, count) };
        // SAFETY: as above.
        let ages = (!ages.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(ages, count) });
        // SAFETY: as this function's.
        unsafe { wait(list, wait_on_all, milliseconds, ages) }
    })
}

unsafe fn id(event: *mut Event) -> Result<u32, Status> {
    if event.is_null() {
        return Err(Status::InvalidHandle);
    }
    // SAFETY: the caller passes live events; the number never changes.
    Ok(unsafe { (*event).id })
}

unsafe fn wait(list: &[*mut Event], all: bool, milliseconds: u32, ages: Option<&mut [u64]>) -> Result<(), Status> {
    let device: &Device = &*device()?;
    // SAFETY: the caller passes live events.
    let ids = list.iter().map(|&e| unsafe { id(e) }).collect::<Result<Vec<_>, _>>()?;
    let timeout = (milliseconds != INFINITE).then(|| Duration::from_millis(u64::from(milliseconds)));
    let raised = device.events.wait_older(&ids, all, timeout, ages).map_err(status)?;
    for Raised { index, fault } in &raised {
        let Some(fault) = fault else { continue };
        let failure = match (fault.hang, fault.not_present) {
            (true, _) => FAILURE_HANG,
            (false, true) => FAILURE_NOT_PRESENT,
            (false, false) => FAILURE_READ_ONLY,
        };
        let told = MemoryAccessFault { node: GPU_NODE, address: fault.address, failure, flags: FAULT_FATAL_PROCESS };
        // SAFETY: an event that carries a fault was not destroyed while it was waited for, and its payload is a fault's.
        unsafe { (*list[*index]).payload = EventPayload { fault: told } };
    }
    if raised.is_empty() { Err(Status::WaitTimeout) } else { Ok(()) }
}

include!(concat!(env!("OUT_DIR"), "/event_versions.rs"));
