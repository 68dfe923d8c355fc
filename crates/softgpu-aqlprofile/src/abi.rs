//! The types of the interface, declared by hand from ROCm's public header `hsa_ven_amd_aqlprofile.h` (version 1 of the
//! extension); x86-64.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

/// `hsa_status_t`.
pub type Status = u32;
/// `HSA_STATUS_SUCCESS`.
pub const STATUS_SUCCESS: Status = 0;
/// `HSA_STATUS_INFO_BREAK`: a callback wants no more.
pub const STATUS_INFO_BREAK: Status = 1;
/// `HSA_STATUS_ERROR`.
pub const STATUS_ERROR: Status = 0x1000;
/// `HSA_STATUS_ERROR_INVALID_ARGUMENT`.
pub const STATUS_ERROR_INVALID_ARGUMENT: Status = 0x1001;
/// `HSA_STATUS_ERROR_INVALID_AGENT`.
pub const STATUS_ERROR_INVALID_AGENT: Status = 0x1004;

/// `hsa_agent_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// ROCr's handle.
    pub handle: u64,
}

/// `HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC`: counters, the only type here.
pub(crate) const EVENT_TYPE_PMC: u32 = 0;

/// `hsa_ven_amd_aqlprofile_event_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The block's number.
    pub block_name: u32,
    /// Which instance.
    pub block_index: u32,
    /// The event's number.
    pub counter_id: u32,
}

/// `hsa_ven_amd_aqlprofile_descriptor_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where.
    pub ptr: *mut c_void,
    /// Bytes.
    pub size: u32,
}

/// `hsa_ven_amd_aqlprofile_profile_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The agent.
    pub agent: Agent,
    /// `PMC` (0) or trace (1).
    pub kind: u32,
    /// The events.
    pub events: *const Event,
    /// How many.
    pub event_count: u32,
    /// Parameters of traces.
    pub parameters: *const c_void,
    /// How many.
    pub parameter_count: u32,
    /// Where reads store.
    pub output_buffer: Descriptor,
    /// Where commands lie.
    pub command_buffer: Descriptor,
}

/// `hsa_ext_amd_aql_pm4_packet_t`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The AQL header: left to the caller.
    pub header: u16,
    /// What this library fills.
    pub pm4_command: [u16; 27],
    /// Left to the caller.
    pub completion_signal: u64,
}

/// The counter variant of the union in [`InfoData`], which is its largest.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmcData {
    /// The event.
    pub event: Event,
    /// Its value.
    pub result: u64,
}

/// `hsa_ven_amd_aqlprofile_info_data_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoData {
    /// Which sample of the event, from 0.
    pub sample_id: u32,
    /// The union's counter variant.
    pub pmc_data: PmcData,
}

/// `hsa_ven_amd_aqlprofile_id_query_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IdQuery {
    /// In: the block's name.
    pub name: *const c_char,
    /// Out: its number.
    pub id: u32,
    /// Out: its instances.
    pub instance_count: u32,
}

/// `hsa_ven_amd_aqlprofile_data_callback_t`.
pub type Callback = Option<unsafe extern "C" fn(kind: u32, data: *mut InfoData, user: *mut c_void) -> Status>;

/// `hsa_ven_amd_aqlprofile_info_type_t`.
pub(crate) mod info_type {
    pub(crate) const COMMAND_BUFFER_SIZE: u32 = 0;
    pub(crate) const PMC_DATA_SIZE: u32 = 1;
    pub(crate) const PMC_DATA: u32 = 2;
    pub(crate) const TRACE_DATA: u32 = 3;
    pub(crate) const BLOCK_COUNTERS: u32 = 4;
    pub(crate) const BLOCK_ID: u32 = 5;
    pub(crate) const ENABLE_CMD: u32 = 6;
    pub(crate) const DISABLE_CMD: u32 = 7;
}

const _: () = {
    assert!(size_of::<Event>() == 12);
    assert!(size_of::<Descriptor>() == 16 && offset_of!(Descriptor, size) == 8);
    assert!(size_of::<Profile>() == 80);
    assert!(offset_of!(Profile, kind) == 8);
    assert!(offset_of!(Profile, events) == 16 && offset_of!(Profile, event_count) == 24);
    assert!(offset_of!(Profile, parameters) == 32 && offset_of!(Profile, parameter_count) == 40);
    assert!(offset_of!(Profile, output_buffer) == 48 && offset_of!(Profile, command_buffer) == 64);
    assert!(size_of::<Packet>() == 64 && offset_of!(Packet, pm4_command) == 2);
    assert!(offset_of!(Packet, completion_signal) == 56);
    assert!(size_of::<InfoData>() == 32 && offset_of!(InfoData, pmc_data) == 8);
    assert!(offset_of!(PmcData, result) == 16);
    assert!(size_of::<IdQuery>() == 16 && offset_of!(IdQuery, id) == 8 && offset_of!(IdQuery, instance_count) == 12);
};
