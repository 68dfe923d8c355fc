//! Functions of the interface that this GPU does not have. Each answers "not supported", which ROCr 5.2.3 accepts: it then goes another
//! way (managed memory in host memory, queue errors by the inactive signal) or returns an error to the program.

use std::ffi::c_void;

use crate::types::Status;

macro_rules! unsupported {
    ($($(#[$doc:meta])* extern "C" fn $name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $kind),*) -> Status {
            let _ = ($($argument,)*);
            Status::NotSupported
        }
    )*};
}

unsupported! {
    /// Debugger support.
    extern "C" fn hsaKmtRuntimeEnable(debug: *mut c_void, setup_ttmp: bool);
    /// Debugger support.
    extern "C" fn hsaKmtRuntimeDisable();
    /// Shared virtual memory attributes.
    extern "C" fn hsaKmtSVMSetAttr(start: *mut c_void, bytes: u64, count: u32, attributes: *mut c_void);
    /// Shared virtual memory attributes.
    extern "C" fn hsaKmtSVMGetAttr(start: *mut c_void, bytes: u64, count: u32, attributes: *mut c_void);
    /// Memory of a graphics interface.
    extern "C" fn hsaKmtRegisterGraphicsHandleToNodes(handle: u64, info: *mut c_void, count: u64, nodes: *mut u32);
    /// Debugger support.
    extern "C" fn hsaKmtDbgEnable(runtime_info: *mut *mut c_void, data_bytes: *mut u32);
    /// Debugger support.
    extern "C" fn hsaKmtDbgDisable();
    /// Debugger support.
    extern "C" fn hsaKmtDbgGetDeviceData(data: *mut *mut c_void, entries: *mut u32, entry_bytes: *mut u32);
    /// Debugger support.
    extern "C" fn hsaKmtDbgGetQueueData(data: *mut *mut c_void, entries: *mut u32, entry_bytes: *mut u32, suspend: bool);
    /// Debugger support.
    extern "C" fn hsaKmtGetRuntimeCapabilities(capabilities: *mut u32);
    /// Memory for other devices.
    extern "C" fn hsaKmtExportDMABufHandle(address: *mut c_void, bytes: u64, descriptor: *mut i32, offset: *mut u64);
    /// System management.
    extern "C" fn hsaKmtOpenSMI(node: u32, descriptor: *mut i32);
    /// Address sanitizer.
    extern "C" fn hsaKmtReplaceAsanHeaderPage(address: *mut c_void);
    /// Address sanitizer.
    extern "C" fn hsaKmtReturnAsanHeaderPage(address: *mut c_void);
    /// Streaming counters.
    extern "C" fn hsaKmtSPMAcquire(node: u32);
    /// Streaming counters.
    extern "C" fn hsaKmtSPMRelease(node: u32);
    /// Streaming counters.
    extern "C" fn hsaKmtSPMSetDestBuffer(node: u32, bytes: u32, timeout: *mut u32, copied: *mut u32, to: *mut c_void, lost: *mut bool);
}

include!(concat!(env!("OUT_DIR"), "/unsupported_versions.rs"));
