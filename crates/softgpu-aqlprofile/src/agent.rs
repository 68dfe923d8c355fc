//! Whether an agent is one whose counters this library knows.

use crate::abi::{Agent, STATUS_SUCCESS, Status};
use crate::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

type GetInfo = unsafe extern "C" fn(agent: Agent, attribute: u32, value: *mut c_void) -> Status;

/// `HSA_AGENT_INFO_NAME`: 64 bytes, ends with zero.
const INFO_NAME: u32 = 0;
/// `HSA_AGENT_INFO_DEVICE`.
const INFO_DEVICE: u32 = 17;
/// `HSA_DEVICE_TYPE_GPU`.
const DEVICE_GPU: u32 = 1;

/// `HSA_STATUS_ERROR_NOT_INITIALIZED`.
const NOT_INITIALIZED: Status = 0x100b;

/// Asks the ROCr in this process. Where none is running, no handle can be right or wrong and none can do harm, since
/// nothing can submit a packet.
pub(crate) fn check(agent: Agent) -> Result<(), Error> {
    if agent.handle == 0 {
        return Err(Error::Agent("its handle is zero".to_owned()));
    }
    let Some(get_info) = get_info() else { return Ok(()) };
    let mut device = 0_u32;
    // SAFETY: ROCr's own function; the attribute is four bytes long.
    let status = unsafe { get_info(agent, INFO_DEVICE, (&raw mut device).cast()) };
    if status == NOT_INITIALIZED {
        return Ok(());
    }
    if status != STATUS_SUCCESS {
        return Err(Error::Agent(format!("ROCr answers with status {status:#x}")));
    }
    let mut name: [u8; 64] = [0; 64];
    // SAFETY: as above; the attribute is 64 bytes long.
    let status = unsafe { get_info(agent, INFO_NAME, name.as_mut_ptr().cast()) };
    let name = CStr::from_bytes_until_nul(&name).unwrap_or(c"?").to_string_lossy();
    match (status, device) {
        (STATUS_SUCCESS, DEVICE_GPU) if &*name == "gfx90a" => Ok(()),
        _ => Err(Error::Agent(format!("it is named {name}"))),
    }
}

fn get_info() -> Option<GetInfo> {
    static FOUND: OnceLock<GetInfo> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Some(*found);
    }
    let name: *const c_char = c"libhsa-runtime64.so.1".as_ptr();
    // SAFETY: `RTLD_NOLOAD` opens only what is there already; nothing is initialised by it.
    let library = unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: a handle of `dlopen` and a C string. The handle is kept, so that the function stays.
    let symbol = unsafe { libc::dlsym(library, c"hsa_agent_get_info".as_ptr()) };
    if symbol.is_null() {
        return None;
    }
    // SAFETY: HSA defines this function with this signature.
    let found = unsafe { std::mem::transmute::<*mut c_void, GetInfo>(symbol) };
    Some(*FOUND.get_or_init(|| found))
}
