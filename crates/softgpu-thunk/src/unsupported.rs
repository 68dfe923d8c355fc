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
    /// Memory of another process.
    extern "C" fn hsaKmtRegisterSharedHandle(handle: *const c_void, address: *mut c_void, bytes: *mut u64);
    /// Memory of another process.
    extern "C" fn hsaKmtRegisterSharedHandleToNodes(handle: *const c_void, address: *mut c_void, bytes: *mut u64, count: u64, nodes: *mut u32);
}
