//! Which ROCr stands above, and a note where it is one that was not tried.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use softgpu::device::say;

/// File name of the library that was tried: ROCr of ROCm 5.2.3 calls itself 1.5.
const TRIED: &str = "libhsa-runtime64.so.1.5.";

/// Says once, on stderr, when the ROCr in this process is not the one that was tried. A process without ROCr calls the thunk itself
/// (a test does), and nothing is said.
pub(crate) fn note() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let Some(path) = runtime_path() else { return };
        let path = path.canonicalize().unwrap_or(path);
        if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TRIED)) {
            say(&format_args!("{} is not the ROCr that the software GPU was tried with (5.2.3)", path.display()));
        }
    });
}

/// The file that holds `hsa_init` in this process.
fn runtime_path() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: a lookup by name in the objects that are loaded; the name is terminated.
    let address: *mut c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"hsa_init".as_ptr()) };
    if address.is_null() {
        return None;
    }
    // SAFETY: `Dl_info` is plain pointers, which the call fills.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; `info` is writable.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string, which lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes())))
}
