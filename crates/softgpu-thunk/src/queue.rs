//! Queues.

use std::ffi::c_void;

use softgpu::device::say;
use softgpu::queue::{QueueError, QueueKind, QueueRequest};
use softgpu::topology::GPU_NODE;

use crate::guard::{device, guard, out};
use crate::types::{Event, QUEUE_COMPUTE_AQL, QUEUE_SDMA, QUEUE_SDMA_XGMI, QueueResource, Status};

fn status(error: &QueueError) -> Status {
    match error {
        QueueError::BadRing { .. } => {
            say(error);
            Status::InvalidParameter
        }
        QueueError::Unknown(_) => Status::InvalidHandle,
        QueueError::Thread(_) => Status::OutOfResources,
    }
}

/// Makes a queue.
///
/// # Safety
/// `resource` must be valid or null. The ring and, for AQL, the indices must live until the queue is destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtCreateQueue(
    node: u32,
    kind: u32,
    percentage: u32,
    _priority: i32,
    address: *mut c_void,
    bytes: u64,
    _event: *mut Event,
    resource: *mut QueueResource,
) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        let resource = unsafe { out(resource) }?;
        if node != GPU_NODE {
            return Err(Status::InvalidNodeUnit);
        }
        let kind = match kind {
            QUEUE_SDMA | QUEUE_SDMA_XGMI => QueueKind::Sdma,
            QUEUE_COMPUTE_AQL => QueueKind::Aql,
            _ => return Err(Status::NotSupported),
        };
        let device = device()?;
        let request = QueueRequest { kind, base: address as u64, bytes, read_index: resource.read };
        let made = device.queues.create(&device, request).map_err(|e| status(&e))?;
        (resource.id, resource.doorbell) = (made.id, made.doorbell);
        (resource.read, resource.write) = (made.read, made.write);
        if percentage == 0 {
            device.queues.suspend(made.id, true).map_err(|e| status(&e))?;
        }
        Ok(())
    })
}

/// Suspends a queue (0 percent) or resumes it.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtUpdateQueue(
    id: u64,
    percentage: u32,
    _priority: i32,
    _address: *mut c_void,
    _bytes: u64,
    _event: *mut Event,
) -> Status {
    guard(|| device()?.queues.suspend(id, percentage == 0).map_err(|e| status(&e)))
}

/// Ends a queue, and what it is running.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtDestroyQueue(id: u64) -> Status {
    guard(|| device()?.queues.destroy(id).map_err(|e| status(&e)))
}

/// Restricts a queue to some compute units, which changes no result here.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtSetQueueCUMask(_id: u64, _count: u32, _mask: *mut u32) -> Status {
    Status::Success
}

/// Gives a queue barriers across work-groups; there are none.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtAllocQueueGWS(_id: u64, _count: u32, _first: *mut u32) -> Status {
    Status::NotSupported
}

include!(concat!(env!("OUT_DIR"), "/queue_versions.rs"));
