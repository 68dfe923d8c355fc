//! The thunk's structures, declared from its public header `hsakmttypes.h` (version 5.2.3), which packs to 4 bytes.
//!
//! Bit fields are plain words here; the constants beside them name the bits that are used.

use std::ffi::c_void;

/// Result of a thunk function (`HSAKMT_STATUS`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(dead_code, reason = "the whole list, so that a reader of a debugger sees names")]
pub(crate) enum Status {
    Success = 0,
    Error = 1,
    InvalidParameter = 3,
    InvalidHandle = 4,
    InvalidNodeUnit = 5,
    NoMemory = 6,
    NotImplemented = 10,
    NotSupported = 11,
    OutOfResources = 13,
    KernelIoChannelNotOpened = 20,
    WaitFailure = 30,
    WaitTimeout = 31,
    MemoryNotRegistered = 36,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct VersionInfo {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct SystemProperties {
    pub(crate) nodes: u32,
    pub(crate) oem: u32,
    pub(crate) id: u32,
    pub(crate) revision: u32,
}

/// `HsaNodeProperties`. Later versions only add to the end.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct NodeProperties {
    pub(crate) cpu_cores: u32,
    pub(crate) simds: u32,
    pub(crate) memory_banks: u32,
    pub(crate) caches: u32,
    pub(crate) io_links: u32,
    pub(crate) cpu_id_low: u32,
    pub(crate) simd_id_low: u32,
    pub(crate) capability: u32,
    pub(crate) waves_per_simd: u32,
    pub(crate) lds_kib: u32,
    pub(crate) gds_kib: u32,
    pub(crate) wave_size: u32,
    pub(crate) shader_banks: u32,
    pub(crate) arrays: u32,
    pub(crate) cus_per_array: u32,
    pub(crate) simds_per_cu: u32,
    pub(crate) scratch_slots: u32,
    pub(crate) engine_id: u32,
    pub(crate) vendor: u16,
    pub(crate) device: u16,
    pub(crate) location: u32,
    pub(crate) local_memory: u64,
    pub(crate) max_clock_gpu: u32,
    pub(crate) max_clock_cpu: u32,
    pub(crate) render_minor: i32,
    pub(crate) marketing_name: [u16; 64],
    pub(crate) amd_name: [u8; 64],
    pub(crate) engine_versions: u32,
    pub(crate) debug_properties: u64,
    pub(crate) hive: u64,
    pub(crate) sdma_engines: u32,
    pub(crate) sdma_xgmi_engines: u32,
    pub(crate) sdma_queues_per_engine: u8,
    pub(crate) cp_queues: u8,
    pub(crate) gws: u8,
    pub(crate) reserved2: u8,
    pub(crate) domain: u32,
    pub(crate) unique_id: u64,
    pub(crate) vgpr_bytes_per_cu: u32,
    pub(crate) sgpr_bytes_per_cu: u32,
    /// Reserved in 5.2.3; later versions read these as the number of accelerator dies, the driver's id and the family.
    pub(crate) xcc: u32,
    pub(crate) driver_id: u32,
    pub(crate) family: u32,
}

/// Version 2 of the doorbell: it takes AQL packet indices (bits 12 and 13 of the capability).
pub(crate) const CAPABILITY_DOORBELL_2: u32 = 2 << 12;
/// The queue's size must be a power of two.
pub(crate) const CAPABILITY_QUEUE_POWER_OF_TWO: u32 = 1 << 3;
/// ECC in the on-chip memories, which makes the instruction set `gfx90a:sramecc+`.
pub(crate) const CAPABILITY_SRAM_ECC: u32 = 1 << 26;

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct MemoryProperties {
    pub(crate) heap: u32,
    pub(crate) bytes: u64,
    pub(crate) flags: u32,
    pub(crate) width: u32,
    pub(crate) max_clock: u32,
    pub(crate) virtual_base: u64,
}

pub(crate) const HEAP_SYSTEM: u32 = 0;
pub(crate) const HEAP_FRAME_BUFFER_PUBLIC: u32 = 1;
pub(crate) const HEAP_FRAME_BUFFER_PRIVATE: u32 = 2;
pub(crate) const HEAP_LDS: u32 = 4;
pub(crate) const HEAP_SCRATCH: u32 = 5;

#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct CacheProperties {
    pub(crate) processor: u32,
    pub(crate) level: u32,
    pub(crate) kib: u32,
    pub(crate) line: u32,
    pub(crate) lines_per_tag: u32,
    pub(crate) associativity: u32,
    pub(crate) latency: u32,
    pub(crate) kind: u32,
    pub(crate) siblings: [u32; 256],
}

pub(crate) const CACHE_DATA: u32 = 1;
pub(crate) const CACHE_INSTRUCTION: u32 = 2;
pub(crate) const CACHE_CPU: u32 = 4;
pub(crate) const CACHE_GPU: u32 = 8;

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct IoLinkProperties {
    pub(crate) kind: u32,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) weight: u32,
    pub(crate) min_latency: u32,
    pub(crate) max_latency: u32,
    pub(crate) min_bandwidth: u32,
    pub(crate) max_bandwidth: u32,
    pub(crate) transfer_bytes: u32,
    pub(crate) flags: u32,
}

pub(crate) const LINK_PCIE: u32 = 2;

/// Bits of `HsaMemFlags`.
pub(crate) const MEMORY_READ_ONLY: u32 = 1 << 3;
pub(crate) const MEMORY_SCRATCH: u32 = 1 << 9;
pub(crate) const MEMORY_GDS: u32 = 1 << 8;
pub(crate) const MEMORY_FIXED_ADDRESS: u32 = 1 << 15;

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct ClockCounters {
    pub(crate) gpu: u64,
    pub(crate) cpu: u64,
    pub(crate) system: u64,
    pub(crate) system_hz: u64,
}

#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct TileConfig {
    pub(crate) tiles: *mut u32,
    pub(crate) macro_tiles: *mut u32,
    pub(crate) tile_count: u32,
    pub(crate) macro_tile_count: u32,
    pub(crate) address_config: u32,
    pub(crate) banks: u32,
    pub(crate) ranks: u32,
    pub(crate) reserved: [u32; 7],
}

#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct PointerInfo {
    pub(crate) kind: u32,
    pub(crate) node: u32,
    pub(crate) flags: u32,
    pub(crate) cpu_address: u64,
    pub(crate) gpu_address: u64,
    pub(crate) bytes: u64,
    pub(crate) registered_nodes: u32,
    pub(crate) mapped_nodes: u32,
    pub(crate) registered: *const u32,
    pub(crate) mapped: *const u32,
    pub(crate) user_data: *mut c_void,
}

pub(crate) const POINTER_UNKNOWN: u32 = 0;
pub(crate) const POINTER_ALLOCATED: u32 = 1;
pub(crate) const POINTER_REGISTERED: u32 = 2;
pub(crate) const POINTER_SHARED: u32 = 4;

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct QueueResource {
    pub(crate) id: u64,
    pub(crate) doorbell: u64,
    pub(crate) write: u64,
    pub(crate) read: u64,
    pub(crate) error_reason: u64,
}

pub(crate) const QUEUE_SDMA: u32 = 2;
pub(crate) const QUEUE_SDMA_XGMI: u32 = 5;
pub(crate) const QUEUE_COMPUTE_AQL: u32 = 21;

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct SyncVar {
    pub(crate) user_data: u64,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct EventDescriptor {
    pub(crate) kind: u32,
    pub(crate) node: u32,
    pub(crate) sync_var: SyncVar,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct MemoryAccessFault {
    pub(crate) node: u32,
    pub(crate) address: u64,
    pub(crate) failure: u32,
    pub(crate) flags: u32,
}

pub(crate) const FAILURE_NOT_PRESENT: u32 = 1;
pub(crate) const FAILURE_READ_ONLY: u32 = 2;
/// Error type 3 of the failure word: the GPU hangs.
pub(crate) const FAILURE_HANG: u32 = 3 << 6;
pub(crate) const FAULT_FATAL_PROCESS: u32 = 1;

/// The part of `HsaEventData` that depends on the event's kind.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) union EventPayload {
    pub(crate) sync_var: SyncVar,
    pub(crate) fault: MemoryAccessFault,
}

#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct Event {
    pub(crate) id: u32,
    pub(crate) kind: u32,
    pub(crate) payload: EventPayload,
    pub(crate) hw_data1: u64,
    pub(crate) hw_data2: u64,
    pub(crate) hw_data3: u32,
}

pub(crate) const EVENT_SIGNAL: u32 = 0;
pub(crate) const EVENT_MEMORY: u32 = 8;

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<NodeProperties>() == 356);
    assert!(offset_of!(NodeProperties, capability) == 28);
    assert!(offset_of!(NodeProperties, engine_id) == 68);
    assert!(offset_of!(NodeProperties, local_memory) == 80);
    assert!(offset_of!(NodeProperties, marketing_name) == 100);
    assert!(offset_of!(NodeProperties, sdma_engines) == 312);
    assert!(offset_of!(NodeProperties, unique_id) == 328);
    assert!(size_of::<MemoryProperties>() == 32 && offset_of!(MemoryProperties, virtual_base) == 24);
    assert!(size_of::<CacheProperties>() == 1056);
    assert!(size_of::<IoLinkProperties>() == 48);
    assert!(size_of::<ClockCounters>() == 32);
    assert!(size_of::<TileConfig>() == 64);
    assert!(size_of::<PointerInfo>() == 68 && offset_of!(PointerInfo, registered) == 44);
    assert!(size_of::<QueueResource>() == 40);
    assert!(size_of::<EventDescriptor>() == 24);
    assert!(size_of::<MemoryAccessFault>() == 20);
    assert!(size_of::<Event>() == 48 && offset_of!(Event, hw_data2) == 36);
};
