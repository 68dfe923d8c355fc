//! The few functions of the HSA runtime that the demo calls, declared by hand from the HSA Runtime Programmer's
//! Reference Manual 1.2 and AMD's extension, and found in the library at run time.

use std::ffi::{CStr, c_char, c_void};

use crate::error::Error;
use crate::signal::Handler;

/// `hsa_status_t`.
pub(crate) type Status = u32;
/// `HSA_STATUS_SUCCESS`.
pub(crate) const SUCCESS: Status = 0;
/// `HSA_STATUS_INFO_BREAK`: a callback ended an iteration.
pub(crate) const BREAK: Status = 1;

/// A handle: every HSA handle is one 64-bit word.
pub(crate) type Handle = u64;

/// `hsa_queue_t`.
#[repr(C)]
pub(crate) struct Queue {
    pub(crate) kind: u32,
    pub(crate) features: u32,
    pub(crate) base: *mut Packet,
    pub(crate) doorbell: Handle,
    /// Packets that fit; a power of two.
    pub(crate) size: u32,
    pub(crate) reserved: u32,
    pub(crate) id: u64,
}
const _: () = assert!(size_of::<Queue>() == 40);

/// Of a slot that is not submitted. A zero would be a packet of the vendor's to a queue that somebody else rings meanwhile.
pub(crate) const INVALID_HEADER: u16 = 1;

/// `hsa_kernel_dispatch_packet_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) header: u16,
    pub(crate) setup: u16,
    pub(crate) workgroup: [u16; 3],
    pub(crate) reserved0: u16,
    pub(crate) grid: [u32; 3],
    pub(crate) private_bytes: u32,
    pub(crate) group_bytes: u32,
    pub(crate) kernel: u64,
    pub(crate) kernarg: *mut c_void,
    pub(crate) reserved2: u64,
    pub(crate) completion: Handle,
}
const _: () = assert!(size_of::<Packet>() == 64 && std::mem::offset_of!(Packet, completion) == 56);

impl Packet {
    /// A barrier packet that waits for a signal, which stands in the second 8 bytes.
    pub(crate) fn barrier(after: Handle) -> Self {
        Self {
            header: BARRIER_HEADER,
            setup: 0,
            workgroup: [0, 0, after as u16],
            reserved0: (after >> 16) as u16,
            grid: [(after >> 32) as u32, 0, 0],
            private_bytes: 0,
            group_bytes: 0,
            kernel: 0,
            kernarg: std::ptr::null_mut(),
            reserved2: 0,
            completion: 0,
        }
    }
}

/// Barrier for all of its signals, the rest as below.
const BARRIER_HEADER: u16 = 3 | 1 << 8 | 2 << 9 | 2 << 11;

/// Kernel dispatch, barrier bit set, acquire and release fences of system scope.
pub(crate) const DISPATCH_HEADER: u16 = 2 | 1 << 8 | 2 << 9 | 2 << 11;

pub(crate) const AGENT_INFO_NAME: u32 = 0;
pub(crate) const AGENT_INFO_DEVICE: u32 = 17;
pub(crate) const DEVICE_GPU: u32 = 1;
pub(crate) const POOL_INFO_SEGMENT: u32 = 0;
pub(crate) const POOL_INFO_FLAGS: u32 = 1;
pub(crate) const SEGMENT_GLOBAL: u32 = 0;
pub(crate) const POOL_KERNARG: u32 = 1;
pub(crate) const POOL_COARSE: u32 = 4;
pub(crate) const QUEUE_MULTI: u32 = 0;
pub(crate) const PROFILE_FULL: u32 = 1;
pub(crate) const ROUNDING_DEFAULT: u32 = 0;
pub(crate) const SYMBOL_KERNARG_BYTES: u32 = 11;
pub(crate) const SYMBOL_GROUP_BYTES: u32 = 13;
pub(crate) const SYMBOL_PRIVATE_BYTES: u32 = 14;
pub(crate) const SYMBOL_ADDRESS: u32 = 21;
pub(crate) const SYMBOL_KERNEL: u32 = 22;
pub(crate) const CONDITION_LT: u32 = 2;
pub(crate) const WAIT_BLOCKED: u32 = 0;

/// `void (*)(hsa_status_t, hsa_queue_t*, void*)`.
pub(crate) type QueueError = extern "C" fn(Status, *mut Queue, *mut c_void);
/// `hsa_dim3_t`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

/// `hsa_pitched_ptr_t`.
#[repr(C)]
pub(crate) struct Pitched {
    pub(crate) base: u64,
    pub(crate) pitch: usize,
    pub(crate) slice: usize,
}

/// `hsaDeviceToDevice`.
pub(crate) const WITHIN_DEVICE: u32 = 3;

/// A callback of an iteration over handles.
pub(crate) type Visit = extern "C" fn(Handle, *mut c_void) -> Status;

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The runtime's functions. They stay valid: the library is never closed.
        pub(crate) struct Hsa { $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Hsa {
            /// Loads the runtime; does not start it.
            pub(crate) fn load() -> Result<Self, Error> {
                let library = open()?;
                Ok(Self { $($name: {
                    let name = concat!(stringify!($name), "\0");
                    let address = symbol(library, name)?;
                    // SAFETY: the library exports this function under this name, and the type written above is the
                    // one that its manual gives.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address) }
                },)* })
            }
        }
    };
}

functions! {
    hsa_init: fn() -> Status;
    hsa_shut_down: fn() -> Status;
    hsa_iterate_agents: fn(Visit, *mut c_void) -> Status;
    hsa_agent_get_info: fn(Handle, u32, *mut c_void) -> Status;
    hsa_amd_agent_iterate_memory_pools: fn(Handle, Visit, *mut c_void) -> Status;
    hsa_amd_memory_pool_get_info: fn(Handle, u32, *mut c_void) -> Status;
    hsa_amd_memory_pool_allocate: fn(Handle, usize, u32, *mut *mut c_void) -> Status;
    hsa_amd_memory_pool_free: fn(*mut c_void) -> Status;
    hsa_amd_agents_allow_access: fn(u32, *const Handle, *const u32, *const c_void) -> Status;
    hsa_amd_memory_async_copy: fn(*mut c_void, Handle, *const c_void, Handle, usize, u32, *const Handle, Handle) -> Status;
    hsa_memory_copy: fn(*mut c_void, *const c_void, usize) -> Status;
    hsa_queue_create: fn(Handle, u32, u32, Option<QueueError>, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
    hsa_queue_destroy: fn(*mut Queue) -> Status;
    hsa_queue_add_write_index_screlease: fn(*const Queue, u64) -> u64;
    hsa_queue_load_read_index_scacquire: fn(*const Queue) -> u64;
    hsa_signal_create: fn(i64, u32, *const Handle, *mut Handle) -> Status;
    hsa_signal_destroy: fn(Handle) -> Status;
    hsa_signal_store_screlease: fn(Handle, i64);
    hsa_signal_wait_scacquire: fn(Handle, u32, i64, u64, u32) -> i64;
    hsa_amd_signal_async_handler: fn(Handle, u32, i64, Handler, usize) -> Status;
    hsa_amd_memory_async_copy_rect: fn(*const Pitched, *const Dim3, *const Pitched, *const Dim3, *const Dim3, Handle, u32, u32, *const Handle, Handle) -> Status;
    hsa_amd_memory_lock: fn(*mut c_void, usize, *mut Handle, i32, *mut *mut c_void) -> Status;
    hsa_amd_memory_unlock: fn(*mut c_void) -> Status;
    hsa_code_object_reader_create_from_memory: fn(*const c_void, usize, *mut Handle) -> Status;
    hsa_executable_create_alt: fn(u32, u32, *const c_char, *mut Handle) -> Status;
    hsa_executable_load_agent_code_object: fn(Handle, Handle, Handle, *const c_char, *mut Handle) -> Status;
    hsa_executable_freeze: fn(Handle, *const c_char) -> Status;
    hsa_executable_get_symbol_by_name: fn(Handle, *const c_char, *const Handle, *mut Handle) -> Status;
    hsa_executable_symbol_get_info: fn(Handle, u32, *mut c_void) -> Status;
    hsa_executable_destroy: fn(Handle) -> Status;
    hsa_code_object_reader_destroy: fn(Handle) -> Status;
}

/// The error of a call that did not succeed.
pub(crate) fn check(call: &'static str, status: Status) -> Result<(), Error> {
    if status == SUCCESS { Ok(()) } else { Err(Error::Call { call, status }) }
}

fn open() -> Result<*mut c_void, Error> {
    // SAFETY: the name ends with a zero byte; loading the runtime runs its constructors, as for every program that
    // links it.
    let library = unsafe { libc::dlopen(c"libhsa-runtime64.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if library.is_null() { Err(Error::Runtime(loader_error())) } else { Ok(library) }
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, Error> {
    // SAFETY: `library` came from dlopen and was never closed; the name ends with a zero byte.
    let address = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
    if address.is_null() { Err(Error::Runtime(loader_error())) } else { Ok(address) }
}

fn loader_error() -> String {
    // SAFETY: dlerror gives null or a string that stays valid until the next call on this thread.
    let message = unsafe { libc::dlerror() };
    if message.is_null() {
        return "it lacks a function".to_owned();
    }
    // SAFETY: see above; it is not null and ends with a zero byte.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
