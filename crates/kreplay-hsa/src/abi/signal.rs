//! What a signal's handle points at (`amd_signal_t`, part of AMD's ABI between runtime and packet processor).

use super::Signal;
use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// `amd_signal_t`.
#[repr(C, align(64))]
pub(crate) struct AmdSignal {
    kind: i64,
    value: AtomicI64,
    event_mailbox: u64,
    event_id: u32,
    reserved: u32,
    start: AtomicU64,
    end: AtomicU64,
    queue: u64,
    reserved_too: [u32; 2],
}
const _: () = assert!(
    size_of::<AmdSignal>() == 64
        && offset_of!(AmdSignal, value) == 8
        && offset_of!(AmdSignal, start) == 32
        && offset_of!(AmdSignal, end) == 40
);

/// `AMD_SIGNAL_KIND_USER`: a signal whose `value` is its value.
const KIND_USER: i64 = 1;

/// When a packet began and ended, in ticks of the agent's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The times that the packet processor wrote beside `signal`.
///
/// # Safety
/// `signal` must be 0 or a live signal.
pub(crate) unsafe fn ticks(signal: Signal) -> Ticks {
    if signal.handle == 0 {
        return Ticks::default();
    }
    // SAFETY: a live signal's handle is the address of its amd_signal_t; both fields are read atomically.
    let block = unsafe { &*(signal.handle as *const AmdSignal) };
    Ticks { start: block.start.load(Ordering::Acquire), end: block.end.load(Ordering::Acquire) }
}

/// Puts times beside `signal`, as the packet processor would have. A signal that is no user signal is left alone.
///
/// # Safety
/// `signal` must be 0 or a live signal.
pub(crate) unsafe fn set_ticks(signal: Signal, ticks: Ticks) {
    if signal.handle == 0 {
        return;
    }
    // SAFETY: as in `ticks`.
    let block = unsafe { &*(signal.handle as *const AmdSignal) };
    if block.kind == KIND_USER {
        block.start.store(ticks.start, Ordering::Relaxed);
        block.end.store(ticks.end, Ordering::Release);
    }
}
