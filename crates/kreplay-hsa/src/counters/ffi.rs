//! The AQL profile interface of ROCm, declared by hand from its public header (version 1 of the extension); x86-64.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

/// `hsa_status_t`.
pub(super) type Status = u32;
pub(super) const SUCCESS: Status = 0;
pub(super) const INVALID_ARGUMENT: Status = 0x1001;

/// `HSA_EXTENSION_AMD_AQLPROFILE`.
pub(super) const EXTENSION_AQLPROFILE: u16 = 0x202;

/// `hsa_ven_amd_aqlprofile_event_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) block: u32,
    pub(super) instance: u32,
    pub(super) event: u32,
}

/// `hsa_ven_amd_aqlprofile_descriptor_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    pub(super) ptr: *mut c_void,
    pub(super) size: u32,
}

/// `hsa_ven_amd_aqlprofile_profile_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    pub(super) agent: u64,
    pub(super) kind: u32,
    pub(super) events: *const Event,
    pub(super) event_count: u32,
    pub(super) parameters: *const c_void,
    pub(super) parameter_count: u32,
    pub(super) output: Descriptor,
    pub(super) commands: Descriptor,
}

/// An AQL packet: 64 bytes.
pub(super) type Packet = [u32; 16];

/// `hsa_ven_amd_aqlprofile_info_data_t` of a counter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct InfoData {
    pub(super) sample: u32,
    pub(super) data: PmcData,
}

/// The counter variant of the union in [`InfoData`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct PmcData {
    pub(super) event: Event,
    pub(super) result: u64,
}

/// `hsa_ven_amd_aqlprofile_id_query_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct IdQuery {
    pub(super) name: *const c_char,
    pub(super) id: u32,
    pub(super) instances: u32,
}

pub(super) const INFO_COMMAND_BUFFER_SIZE: u32 = 0;
pub(super) const INFO_PMC_DATA_SIZE: u32 = 1;
pub(super) const INFO_PMC_DATA: u32 = 2;
pub(super) const INFO_BLOCK_COUNTERS: u32 = 4;
pub(super) const INFO_BLOCK_ID: u32 = 5;

pub(super) type Callback = unsafe extern "C" fn(kind: u32, data: *mut InfoData, user: *mut c_void) -> Status;
pub(super) type GetMajorExtensionTable =
    unsafe extern "C" fn(extension: u16, major: u16, bytes: usize, table: *mut c_void) -> Status;

/// `hsa_ven_amd_aqlprofile_1_00_pfn_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) version_major: Option<unsafe extern "C" fn() -> u32>,
    pub(super) version_minor: Option<unsafe extern "C" fn() -> u32>,
    pub(super) error_string: Option<unsafe extern "C" fn(*mut *const c_char) -> Status>,
    pub(super) validate_event: Option<unsafe extern "C" fn(u64, *const Event, *mut bool) -> Status>,
    pub(super) start: Option<unsafe extern "C" fn(*mut Profile, *mut Packet) -> Status>,
    pub(super) stop: Option<unsafe extern "C" fn(*const Profile, *mut Packet) -> Status>,
    pub(super) read: Option<unsafe extern "C" fn(*const Profile, *mut Packet) -> Status>,
    pub(super) legacy_get_pm4: Option<unsafe extern "C" fn(*const Packet, *mut c_void) -> Status>,
    pub(super) get_info: Option<unsafe extern "C" fn(*const Profile, u32, *mut c_void) -> Status>,
    pub(super) iterate_data: Option<unsafe extern "C" fn(*const Profile, Callback, *mut c_void) -> Status>,
}

const _: () = {
    assert!(size_of::<Event>() == 12);
    assert!(size_of::<Profile>() == 80);
    assert!(offset_of!(Profile, kind) == 8);
    assert!(offset_of!(Profile, events) == 16 && offset_of!(Profile, event_count) == 24);
    assert!(offset_of!(Profile, parameters) == 32 && offset_of!(Profile, parameter_count) == 40);
    assert!(offset_of!(Profile, output) == 48 && offset_of!(Profile, commands) == 64);
    assert!(size_of::<InfoData>() == 32 && offset_of!(InfoData, data) == 8 && offset_of!(PmcData, result) == 16);
    assert!(size_of::<IdQuery>() == 16 && offset_of!(IdQuery, id) == 8 && offset_of!(IdQuery, instances) == 12);
    assert!(size_of::<Table>() == 80);
    assert!(offset_of!(Table, start) == 32 && offset_of!(Table, stop) == 40 && offset_of!(Table, read) == 48);
    assert!(offset_of!(Table, get_info) == 64 && offset_of!(Table, iterate_data) == 72);
};
