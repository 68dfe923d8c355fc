//! Opening the device, its version, its clocks, and what is fixed about it.

use softgpu::device::now_ns;

use crate::guard::{device, guard, out};
use crate::runtime_version;
use crate::types::{ClockCounters, Status, TileConfig, VersionInfo};

/// The driver interface shown to ROCr: 1.6 has events and no exception debugging, so that ROCr takes queue errors from the
/// inactive signal.
const INTERFACE: VersionInfo = VersionInfo { major: 1, minor: 6 };

/// Opens the device.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtOpenKFD() -> Status {
    guard(|| {
        runtime_version::note();
        device().map(drop)
    })
}

/// Closes the device; what is allocated stays until it is freed.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtCloseKFD() -> Status {
    Status::Success
}

/// Version of the driver interface.
///
/// # Safety
/// The pointer must be valid or null, as for every function of the thunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetVersion(version: *mut VersionInfo) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(version) }? = INTERFACE;
        Ok(())
    })
}

/// Clocks of a node: all of them count nanoseconds of the same clock.
///
/// # Safety
/// The pointer must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetClockCounters(_node: u32, counters: *mut ClockCounters) -> Status {
    guard(|| {
        let now = now_ns();
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(counters) }? = ClockCounters { gpu: now, cpu: now, system: now, system_hz: 1_000_000_000 };
        Ok(())
    })
}

/// How images are laid out: there are none, but ROCr insists on an answer.
///
/// # Safety
/// The pointer must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetTileConfig(node: u32, config: *mut TileConfig) -> Status {
    guard(|| {
        if node != softgpu::topology::GPU_NODE {
            return Err(Status::InvalidNodeUnit);
        }
        // SAFETY: the caller passes a valid pointer or null.
        let config = unsafe { out(config) }?;
        (config.tile_count, config.macro_tile_count) = (0, 0);
        (config.address_config, config.banks, config.ranks) = (0, 0, 0);
        Ok(())
    })
}

/// Sets how the GPU caches memory: it has no caches to disagree with the host's.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtSetMemoryPolicy(
    _node: u32,
    _default: u32,
    _alternate: u32,
    _base: *mut std::ffi::c_void,
    _bytes: u64,
) -> Status {
    Status::Success
}

/// Installs a trap handler. It is not run: a trap of a kernel is a queue error.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtSetTrapHandler(
    _node: u32,
    _code: *mut std::ffi::c_void,
    _code_bytes: u64,
    _buffer: *mut std::ffi::c_void,
    _buffer_bytes: u64,
) -> Status {
    Status::Success
}

/// Tells whether faults are retried: they are not.
///
/// # Safety
/// The pointer must be valid or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsaKmtGetXNACKMode(enable: *mut i32) -> Status {
    guard(|| {
        // SAFETY: the caller passes a valid pointer or null.
        *unsafe { out(enable) }? = 0;
        Ok(())
    })
}

/// Asks for faults to be retried, which cannot be had.
#[unsafe(no_mangle)]
pub extern "C" fn hsaKmtSetXNACKMode(enable: i32) -> Status {
    if enable == 0 { Status::Success } else { Status::NotSupported }
}

include!(concat!(env!("OUT_DIR"), "/open_versions.rs"));
