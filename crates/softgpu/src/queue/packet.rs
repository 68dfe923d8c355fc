//! Layouts that programs, runtime and GPU share: AQL packets, `amd_queue_t`, `amd_signal_t`.
//!
//! Sources: HSA Platform System Architecture specification (AQL), and the public headers `amd_hsa_queue.h`,
//! `amd_hsa_signal.h` and `hsa_ext_amd.h`.

use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering};

/// Bytes of an AQL packet.
pub const BYTES: u64 = 64;

/// Offset of `write_dispatch_id` in `amd_queue_t`.
pub const QUEUE_WRITE_ID: u64 = 56;
/// Offset of `read_dispatch_id` in `amd_queue_t`.
pub const QUEUE_READ_ID: u64 = 128;
/// Offset of `queue_inactive_signal` in `amd_queue_t`.
pub const QUEUE_INACTIVE_SIGNAL: u64 = 192;

/// Packet type: AMD's own, told apart by the third byte.
pub const TYPE_VENDOR: u8 = 0;
/// Packet type: not written yet.
pub const TYPE_INVALID: u8 = 1;
/// Packet type: kernel dispatch.
pub const TYPE_DISPATCH: u8 = 2;
/// Packet type: barrier until all signals are zero.
pub const TYPE_BARRIER_AND: u8 = 3;
/// Packet type: agent dispatch, which a GPU does not execute.
pub const TYPE_AGENT_DISPATCH: u8 = 4;
/// Packet type: barrier until one signal is zero.
pub const TYPE_BARRIER_OR: u8 = 5;

/// Vendor format: PM4 commands in an indirect buffer.
pub const VENDOR_PM4_IB: u8 = 1;
/// Vendor format: barrier until a signal's value meets a condition.
pub const VENDOR_BARRIER_VALUE: u8 = 2;

/// A kernel dispatch packet (`hsa_kernel_dispatch_packet_t`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KernelDispatch {
    /// Type, barrier bit, fences.
    pub header: u16,
    /// Dimensions in the low two bits.
    pub setup: u16,
    /// Work-items of a work-group in each dimension.
    pub workgroup: [u16; 3],
    reserved0: u16,
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Bytes of private memory a work-item asks for.
    pub private_bytes: u32,
    /// Bytes of LDS a work-group asks for.
    pub group_bytes: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the kernel's arguments.
    pub kernarg: u64,
    reserved2: u64,
    /// Handle of the completion signal, or 0.
    pub completion_signal: u64,
}

/// A barrier packet (`hsa_barrier_and_packet_t` and `hsa_barrier_or_packet_t`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Barrier {
    /// Type, barrier bit, fences.
    pub header: u16,
    reserved0: u16,
    reserved1: u32,
    /// Handles of the signals waited for; 0 is none.
    pub signals: [u64; 5],
    reserved2: u64,
    /// Handle of the completion signal, or 0.
    pub completion_signal: u64,
}

/// AMD's barrier on a value (`hsa_amd_barrier_value_packet_t`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BarrierValue {
    /// Type, barrier bit, fences.
    pub header: u16,
    /// [`VENDOR_BARRIER_VALUE`].
    pub format: u8,
    reserved: u8,
    reserved0: u32,
    /// Handle of the signal; 0 is satisfied.
    pub signal: u64,
    /// What its masked value is compared with.
    pub value: i64,
    /// Applied to the signal's value first.
    pub mask: i64,
    /// 0 equal, 1 not equal, 2 less, 3 greater or equal (`hsa_signal_condition_t`).
    pub condition: u32,
    reserved1: u32,
    reserved2: u64,
    reserved3: u64,
    /// Handle of the completion signal, or 0.
    pub completion_signal: u64,
}

/// AMD's packet of PM4 commands.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pm4Ib {
    /// Type, barrier bit, fences.
    pub header: u16,
    /// [`VENDOR_PM4_IB`].
    pub format: u8,
    reserved: u8,
    /// One `INDIRECT_BUFFER` command.
    pub jump: [u32; 4],
    /// Dwords left in the packet.
    pub remaining: u32,
    reserved1: [u32; 8],
    /// Handle of the completion signal, or 0.
    pub completion_signal: u64,
}

/// A signal (`amd_signal_t`).
#[derive(Debug)]
#[repr(C)]
pub struct Signal {
    /// 1 for signals with a value.
    pub kind: i64,
    /// The value.
    pub value: AtomicI64,
    /// Address of the event's mailbox, or 0.
    pub mailbox: u64,
    /// Number of the event.
    pub event: u32,
    reserved1: u32,
    /// GPU clock when the packet began.
    pub start: AtomicU64,
    /// GPU clock when it ended.
    pub end: AtomicU64,
    queue: u64,
    reserved3: [u32; 2],
}

const _: () = {
    assert!(size_of::<KernelDispatch>() == 64 && std::mem::offset_of!(KernelDispatch, kernel_object) == 32);
    assert!(std::mem::offset_of!(KernelDispatch, completion_signal) == 56);
    assert!(size_of::<Barrier>() == 64 && std::mem::offset_of!(Barrier, signals) == 8);
    assert!(std::mem::offset_of!(Barrier, completion_signal) == 56);
    assert!(size_of::<BarrierValue>() == 64 && std::mem::offset_of!(BarrierValue, value) == 16);
    assert!(std::mem::offset_of!(BarrierValue, completion_signal) == 56);
    assert!(size_of::<Pm4Ib>() == 64 && std::mem::offset_of!(Pm4Ib, jump) == 4);
    assert!(std::mem::offset_of!(Pm4Ib, completion_signal) == 56);
    assert!(size_of::<Signal>() == 64 && std::mem::offset_of!(Signal, mailbox) == 16);
    assert!(std::mem::offset_of!(Signal, start) == 32 && std::mem::offset_of!(Signal, queue) == 48);
};

/// The packet type in a header.
#[must_use]
pub fn packet_type(header: u16) -> u8 {
    header as u8
}

/// The header of the packet at `address`, as its writer published it.
///
/// # Safety
/// `address` must be that of a packet in a live ring.
#[must_use]
pub unsafe fn load_header(address: u64) -> u16 {
    // SAFETY: the caller says so; packets are aligned to 64 bytes.
    unsafe { AtomicU16::from_ptr(address as *mut u16) }.load(Ordering::Acquire)
}

/// Marks the packet at `address` as done, so that its slot is not taken for a new packet.
///
/// # Safety
/// `address` must be that of a packet in a live ring.
pub unsafe fn invalidate(address: u64) {
    // SAFETY: the caller says so; packets are aligned to 64 bytes.
    unsafe { AtomicU16::from_ptr(address as *mut u16) }.store(u16::from(TYPE_INVALID), Ordering::Release);
}
