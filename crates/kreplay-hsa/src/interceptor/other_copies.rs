//! Copies of newer runtimes: many in one call, and between files and the GPU's memory.

use super::copies::synchronous;
use super::guard;
use super::in_flight::Copy;
use super::recording::{Effect, Ending};
use super::state::{Backend, backend};
use crate::abi::{CopyOperation, Signal, Status};
use kreplay_engine::Range;
use std::ffi::c_void;
use std::sync::Arc;

/// The newest layout of an operation that is known.
const NEWEST: u16 = 1;

/// `hsa_amd_memory_async_batch_copy`. Where an operation writes may stand in memory, so nothing of it is recorded.
pub(super) unsafe extern "C" fn async_batch_copy(
    operations: *const CopyOperation,
    count: u32,
    waits: u32,
    after: *const Signal,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.async_batch_copy else { return Status::ERROR };
    if !backend.is_on() || operations.is_null() || count == 0 {
        // SAFETY: the program's own arguments.
        return unsafe { original(operations, count, waits, after) };
    }
    let ours = || {
        let units: Vec<usize> = (0..backend.units().len()).collect();
        // SAFETY: the program hands that many operations to the runtime.
        let mut operations = unsafe { std::slice::from_raw_parts(operations, count as usize) }.to_vec();
        let (held, _) = backend.hold(&units, Range::new(0, u64::MAX), |_| Effect::Other);
        (watched(backend, &mut operations, &units), operations, held)
    };
    let Some((copies, operations, held)) = guard::guard("a batch of copies", || Some(ours()), || None) else {
        // SAFETY: the program's own arguments.
        return unsafe { original(operations, count, waits, after) };
    };
    // SAFETY: the program's own arguments, but for the signals, which are live.
    let status = unsafe { original(operations.as_ptr(), count, waits, after) };
    for copy in copies {
        copy.settle(status);
    }
    drop(held);
    status
}

/// Gives each operation that copies something a signal that stands for the program's. None where that cannot be done for all: then
/// nobody knows when they have ended, and nothing of them is held back but their submission. Of a copy of nothing it is not said
/// whether its signal falls.
fn watched(backend: &'static Backend, operations: &mut [CopyOperation], units: &[usize]) -> Vec<Arc<Copy>> {
    if operations.iter().any(|operation| operation.version > NEWEST) {
        let message =
            "copies in a batch are of a newer layout than this kreplay knows: a window may open before they have ended";
        backend.session.warn("batch_copies", message.into());
        return Vec::new();
    }
    let mut copies = Vec::with_capacity(operations.len());
    let copying = |operation: &&mut CopyOperation| operation.bytes != 0;
    for operation in operations.iter_mut().filter(copying) {
        match backend.copies.acquire() {
            Some(ours) => {
                copies.push(Copy::begin(backend, ours, operation.completion, units.to_vec(), Ending::default()))
            }
            None => {
                copies.into_iter().for_each(Copy::forget);
                return Vec::new();
            }
        }
    }
    for (operation, copy) in operations.iter_mut().filter(copying).zip(&copies) {
        operation.completion = copy.signal();
    }
    copies
}

/// `hsa_amd_ais_file_read`: a file's content to the GPU's memory; over when it returns.
pub(super) unsafe extern "C" fn file_read(
    file: u64,
    to: *mut c_void,
    bytes: u64,
    offset: i64,
    copied: *mut u64,
    result: *mut i32,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.file_read else { return Status::ERROR };
    let written = Range::new(to as u64, bytes);
    // SAFETY: the program's own arguments.
    synchronous(
        backend,
        &[to as u64],
        written,
        |_| Effect::Other,
        || unsafe { original(file, to, bytes, offset, copied, result) },
    )
}

/// `hsa_amd_ais_file_write`: the other way. Not what a window's pass has left there in between.
pub(super) unsafe extern "C" fn file_write(
    file: u64,
    from: *mut c_void,
    bytes: u64,
    offset: i64,
    copied: *mut u64,
    result: *mut i32,
) -> Status {
    let Some(backend) = backend() else { return Status::ERROR };
    let Some(original) = backend.api.file_write else { return Status::ERROR };
    // SAFETY: the program's own arguments.
    synchronous(
        backend,
        &[from as u64],
        Range::new(0, 0),
        |_| Effect::Reads,
        || unsafe { original(file, from, bytes, offset, copied, result) },
    )
}
