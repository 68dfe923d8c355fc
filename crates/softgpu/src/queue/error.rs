//! How an error reaches the program.
//!
//! ROCr watches the queue's *inactive signal*; a real packet processor sets these bits in it, and ROCr turns them into the status
//! that it gives to the queue's error callback:
//!
//! | bits | status | raised here for |
//! |---|---|---|
//! | 2 | `INCOMPATIBLE_ARGUMENTS` | a work-group or grid of size 0, bad dimensions |
//! | 4 | `INVALID_ALLOCATION` | more LDS than there is |
//! | 8 | `INVALID_CODE_OBJECT` | a kernel object that is null, unaligned or not mapped; a kernel that asks for what this GPU does not have |
//! | 32 | `INVALID_PACKET_FORMAT` | an unknown packet type |
//! | 64 | `INVALID_ARGUMENT` | a work-group that is too large |
//! | 256 | `INVALID_PACKET_FORMAT` | an unknown vendor packet or PM4 command |
//! | `0x2000_0000` | `MEMORY_APERTURE_VIOLATION` | an access that is not mapped |
//! | `0x4000_0000` | `ILLEGAL_INSTRUCTION` | an instruction that is not known |
//! | `0x8000_0000` | `EXCEPTION` | `s_trap`, or a defect of the software GPU itself |
//!
//! An access that is not mapped also raises the memory event first. ROCr then calls the system event handler of the program or, without
//! one, ends the program as on a real GPU.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Ring, packet, signal};
use crate::contract::{BadAddress, Fault};
use crate::device::{Device, say};
use crate::event::MemoryFault;
use crate::memory::View;

/// What stops a queue.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Bits for the inactive signal.
    pub code: u64,
    /// One line for the user.
    pub message: String,
    /// The access, where memory was at fault.
    pub access: Option<BadAddress>,
}

impl Stop {
    /// An error with these bits.
    pub(super) fn new(code: Code, message: impl Display) -> Self {
        Self { code: code as u64, message: message.to_string(), access: None }
    }

    /// An access by the packet processor itself.
    pub(super) fn access(what: &str, access: BadAddress) -> Self {
        Self { access: Some(access), ..Self::new(Code::Memory, format_args!("{what}: {access}")) }
    }

    /// A dispatch's or counter command's fault; `None` for one that was cancelled, which nobody waits for any more.
    pub(super) fn fault(fault: &Fault) -> Option<Self> {
        let access = match fault {
            Fault::BadAddress { access, .. } => Some(*access),
            Fault::BadProgramCounter { pc } => Some(BadAddress { address: *pc, bytes: 4, write: false }),
            _ => None,
        };
        let code = match fault {
            Fault::UnknownInstruction { .. } => Code::IllegalInstruction,
            Fault::BadAddress { .. } | Fault::BadProgramCounter { .. } => Code::Memory,
            Fault::Trap { .. } => Code::Exception,
            Fault::BadDispatch(_) => Code::CodeObject,
            Fault::Cancelled => return None,
        };
        Some(Self { access, ..Self::new(code, fault) })
    }
}

/// Bits of the inactive signal; the table of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Code {
    /// Bad dimensions.
    Dimensions = 2,
    /// Too much LDS.
    GroupMemory = 4,
    /// Bad kernel object.
    CodeObject = 8,
    /// Bad packet.
    Packet = 32,
    /// Work-group too large.
    GroupSize = 64,
    /// Bad vendor packet.
    VendorPacket = 256,
    /// Memory.
    Memory = 0x2000_0000,
    /// Instruction.
    IllegalInstruction = 0x4000_0000,
    /// Anything else.
    Exception = 0x8000_0000,
}

/// Stops the queue and tells user and program.
pub(super) fn raise(device: &Device, ring: &Ring, stop: &Stop) {
    ring.halted.store(true, Ordering::Relaxed);
    device.totals.errors.fetch_add(1, Ordering::Relaxed);
    say(&format_args!("queue {} stops: {}", ring.id, stop.message));
    let view = View::new(&device.memory, None);
    let fault = match stop.access {
        Some(access) => {
            let mapped = device.memory.table().check(access.address, access.bytes, false).is_ok();
            Some(MemoryFault { address: access.address, not_present: !mapped, hang: false })
        }
        // A copy engine's queue has no inactive signal; the memory event is the only way to the program.
        None if ring.amd_queue == 0 => Some(MemoryFault { address: ring.base, not_present: false, hang: true }),
        None => None,
    };
    let told = fault.is_some_and(|fault| device.events.memory_fault(fault) > 0);
    if ring.amd_queue == 0 && !told {
        say(&format_args!(
            "queue {}: there is no memory event (are interrupts off?); the program cannot be told",
            ring.id
        ));
    }
    if ring.amd_queue == 0 {
        return;
    }
    // SAFETY: the runtime keeps the amd_queue_t until the queue is destroyed, which waits for this thread.
    let handle = unsafe { AtomicU64::from_ptr((ring.amd_queue + packet::QUEUE_INACTIVE_SIGNAL) as *mut u64) };
    match handle.load(Ordering::Acquire) {
        0 => say(&format_args!("queue {} has no inactive signal; the program cannot be told", ring.id)),
        handle => match signal::resolve(&view, handle) {
            Ok(signal) => signal.raise(device, &view, stop.code.cast_signed()),
            Err(bad) => say(&format_args!("queue {}: its inactive signal is unusable: {bad}", ring.id)),
        },
    }
}

/// Tells of a defect of the software GPU: a panic on a queue's thread.
pub(super) fn internal(device: &Device, ring: &Ring) {
    raise(
        device,
        ring,
        &Stop::new(Code::Exception, "internal error of the software GPU (see the panic message above)"),
    );
}
