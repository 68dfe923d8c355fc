//! Handles, statuses and plain structures.

use std::ffi::c_void;
use std::fmt;
use std::mem::{offset_of, size_of};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name {
            pub(crate) handle: u64,
        }
        const _: () = assert!(size_of::<$name>() == 8);
    )*};
}

handles! {
    /// `hsa_agent_t`.
    AgentHandle;
    /// `hsa_signal_t`: the address of an [`AmdSignal`](super::AmdSignal), or 0.
    Signal;
    /// `hsa_region_t`.
    Region;
    /// `hsa_amd_memory_pool_t`.
    Pool;
    /// `hsa_executable_t`.
    Executable;
    /// `hsa_executable_symbol_t`.
    Symbol;
    /// `hsa_code_object_reader_t`.
    Reader;
    /// `hsa_loaded_code_object_t`.
    LoadedCodeObject;
    /// `hsa_amd_vmem_alloc_handle_t`.
    MemoryHandle;
    /// `hsa_ext_image_t`: the address of what kernels are given.
    Image;
    /// `hsa_ext_sampler_t`, likewise.
    Sampler;
}

/// `hsa_status_t`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u32);

impl Status {
    pub(crate) const SUCCESS: Status = Status(0);
    pub(crate) const ERROR: Status = Status(0x1000);
    pub(crate) const INVALID_ALLOCATION: Status = Status(0x1003);
    pub(crate) const OUT_OF_RESOURCES: Status = Status(0x1008);

    /// Whether it is a success: `HSA_STATUS_SUCCESS`, `HSA_STATUS_INFO_BREAK`, or `HSA_STATUS_CU_MASK_REDUCED`. AMD's own errors
    /// lie below the standard's, beside that last one, and newer runtimes have more of them.
    pub(crate) fn is_ok(self) -> bool {
        matches!(self.0, 0 | 1 | 44)
    }

    /// The header's name of the status, where it is one that memory or queues can give.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            0 => "HSA_STATUS_SUCCESS",
            1 => "HSA_STATUS_INFO_BREAK",
            40 => "HSA_STATUS_ERROR_INVALID_MEMORY_POOL",
            41 => "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION",
            42 => "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION",
            43 => "HSA_STATUS_ERROR_MEMORY_FAULT",
            44 => "HSA_STATUS_CU_MASK_REDUCED",
            45 => "HSA_STATUS_ERROR_OUT_OF_REGISTERS",
            46 => "HSA_STATUS_ERROR_RESOURCE_BUSY",
            47 => "HSA_STATUS_ERROR_NOT_SUPPORTED",
            0x1000 => "HSA_STATUS_ERROR",
            0x1001 => "HSA_STATUS_ERROR_INVALID_ARGUMENT",
            0x1002 => "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION",
            0x1003 => "HSA_STATUS_ERROR_INVALID_ALLOCATION",
            0x1004 => "HSA_STATUS_ERROR_INVALID_AGENT",
            0x1008 => "HSA_STATUS_ERROR_OUT_OF_RESOURCES",
            0x1009 => "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
            0x100B => "HSA_STATUS_ERROR_NOT_INITIALIZED",
            0x100D => "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS",
            0x100F => "HSA_STATUS_ERROR_INVALID_ISA",
            0x1010 => "HSA_STATUS_ERROR_INVALID_CODE_OBJECT",
            0x1013 => "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME",
            0x1016 => "HSA_STATUS_ERROR_EXCEPTION",
            _ => "a status of the runtime",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#x})", self.name(), self.0)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `hsa_queue_t`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) kind: u32,
    pub(crate) features: u32,
    pub(crate) base_address: *mut c_void,
    pub(crate) doorbell: Signal,
    pub(crate) size: u32,
    pub(crate) reserved: u32,
    pub(crate) id: u64,
}
const _: () = assert!(size_of::<Queue>() == 40 && offset_of!(Queue, doorbell) == 16 && offset_of!(Queue, id) == 32);

/// `hsa_amd_pointer_info_t`, as far as every version has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerInfo {
    pub(crate) size: u32,
    pub(crate) kind: u32,
    pub(crate) agent_base: u64,
    pub(crate) host_base: u64,
    pub(crate) bytes: usize,
    pub(crate) user_data: *mut c_void,
    pub(crate) owner: AgentHandle,
    pub(crate) global_flags: u32,
    pub(crate) reserved: u32,
}
const _: () = assert!(size_of::<PointerInfo>() == 56 && offset_of!(PointerInfo, global_flags) == 48);

/// `hsa_amd_memory_access_desc_t`: what an agent may do with mapped memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessDescription {
    /// `hsa_access_permission_t`.
    pub(crate) permission: u32,
    pub(crate) agent: AgentHandle,
}
const _: () = assert!(size_of::<AccessDescription>() == 16 && offset_of!(AccessDescription, agent) == 8);

/// `hsa_access_permission_t`: none.
pub(crate) const ACCESS_NONE: u32 = 0;
/// `HSA_ACCESS_PERMISSION_RW`.
pub(crate) const ACCESS_RW: u32 = 3;

/// `hsa_dim3_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}
const _: () = assert!(size_of::<Dim3>() == 12);

/// `hsa_pitched_ptr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PitchedPointer {
    pub(crate) base: u64,
    pub(crate) pitch: usize,
    pub(crate) slice: usize,
}
const _: () = assert!(size_of::<PitchedPointer>() == 24);

/// `hsa_amd_memory_copy_op_t` (ROCm 7): one operation of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyOperation {
    /// Which layout it has.
    pub(crate) version: u16,
    kind: u16,
    entries: u16,
    traffic: u16,
    /// Falls when it is done.
    pub(crate) completion: Signal,
    places: [u64; 4],
    /// What it copies from each place to each other.
    pub(crate) bytes: u64,
    rest: [u64; 9],
}
const _: () = assert!(
    size_of::<CopyOperation>() == 128
        && offset_of!(CopyOperation, completion) == 8
        && offset_of!(CopyOperation, bytes) == 48
);

/// `hsa_amd_profiling_async_copy_time_t` and `hsa_amd_profiling_dispatch_time_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProfilingTime {
    pub(crate) start: u64,
    pub(crate) end: u64,
}
const _: () = assert!(size_of::<ProfilingTime>() == 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_statuses_are_successes() {
        let successes: Vec<u32> = (0..0x1100).filter(|status| Status(*status).is_ok()).collect();
        assert_eq!(successes, [0, 1, 44]);
        // Whatever is called an error is none of them.
        assert!((0..0x1100).map(Status).all(|status| !status.is_ok() || !status.name().contains("ERROR")));
    }
}
