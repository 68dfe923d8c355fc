//! Which ROCr stands above, and a note where it is one that was not tried.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use softgpu::device::say;

/// File names of the libraries that were tried: ROCr of ROCm 5.2.3 calls itself 1.5, that of 6.1.2 calls itself 1.13.
const TRIED: [&str; 2] = ["libhsa-runtime64.so.1.5.", "libhsa-runtime64.so.1.13."];

/// Says once, on stderr, when the ROCr in this process is not the one that was tried. A process without ROCr calls the thunk itself
/// (a test does), and nothing is said.
pub(crate) fn note() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let Some(path) = runtime_path() else { return };
        let path = path.canonicalize().unwrap_or(path);
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if !TRIED.iter().any(|tried| name.starts_with(tried)) {
            say(&format_args!(
                "{} is not a ROCr that the software GPU was tried with (those of ROCm 5.2.3 and 6.1.2)",
                path.display()
            ));
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
