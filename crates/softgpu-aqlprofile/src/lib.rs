//! libhsa-amd-aqlprofile64.so of the software GPU: simulated counters through the vendor interface.
//!
//! ROCr opens a library of this name for `hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, …)`,
//! and tools open it themselves. It exports the functions of version 1 of that table. It talks to no device: it fills
//! command buffers and packets, which a profiler submits, and decodes what the device's packet processor
//! (`softgpu::pmc::CounterBank`) stored.
//!
//! # What a profiler does
//!
//! 1. Fills a profile: agent, events (block, instance, event number), a command buffer and an output buffer that the
//!    device can reach, of the sizes that `get_info` tells.
//! 2. `start` writes all three command lists into the command buffer and makes the start packet; `read` and `stop` make
//!    packets for lists that are there already. Packets are vendor packets without header and completion signal.
//! 3. Submits start, kernels, read, …, stop. Each read stores all values into the output buffer; counters go on.
//! 4. `iterate_data` calls back for each event and sample, in the order of the events.
//!
//! Several profiles with the same events and different output buffers may take turns after one start.
//!
//! # Command buffer
//!
//! 16 words of directory (magic, words of the start, read and stop list), then the three lists. [`softgpu::pmc::ib`]
//! documents the lists.
//!
//! # Errors
//!
//! Statuses are HSA's. The sentence for the calling thread's last error is had from
//! `hsa_ven_amd_aqlprofile_error_string`. Thread traces do not exist here.

mod abi;
mod agent;
mod commands;
mod data;
mod error;
mod exports;
mod info;

pub use abi::{
    Agent, Callback, Descriptor, Event, IdQuery, InfoData, Packet, PmcData, Profile, STATUS_ERROR,
    STATUS_ERROR_INVALID_AGENT, STATUS_ERROR_INVALID_ARGUMENT, STATUS_INFO_BREAK, STATUS_SUCCESS, Status,
};
pub use exports::*;
