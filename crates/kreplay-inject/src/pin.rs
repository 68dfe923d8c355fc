//! Keeps the library in the process: functions of it stand in tables that outlive any `dlclose`.

use std::ffi::c_void;

/// Marks this library as one that is never unloaded. `false` when the loader does not know it.
pub(crate) fn pin() -> bool {
    let here: fn() -> bool = pin;
    // SAFETY: all zeros is a valid Dl_info, made of pointers that are then filled in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address inside this library, and a place for the answer.
    if unsafe { libc::dladdr(here as *const c_void, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return false;
    }
    // SAFETY: the loader's own name of a library that is loaded. The handle is kept: it is the pin.
    !unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) }.is_null()
}
