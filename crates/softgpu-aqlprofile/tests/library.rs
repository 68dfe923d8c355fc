//! The library as a file: what ROCr and tools look up in it.

use std::ffi::{CStr, CString};
use std::path::PathBuf;

/// The functions of version 1 of the extension table, in its order.
const NAMES: [&CStr; 10] = [
    c"hsa_ven_amd_aqlprofile_version_major",
    c"hsa_ven_amd_aqlprofile_version_minor",
    c"hsa_ven_amd_aqlprofile_error_string",
    c"hsa_ven_amd_aqlprofile_validate_event",
    c"hsa_ven_amd_aqlprofile_start",
    c"hsa_ven_amd_aqlprofile_stop",
    c"hsa_ven_amd_aqlprofile_read",
    c"hsa_ven_amd_aqlprofile_legacy_get_pm4",
    c"hsa_ven_amd_aqlprofile_get_info",
    c"hsa_ven_amd_aqlprofile_iterate_data",
];

fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    // Beside the test: cargo only links it into the directory above when the library itself is built.
    test.parent().expect("directory of the test").join("libhsa_amd_aqlprofile64.so")
}

#[test]
fn it_is_found_by_its_name_and_has_every_function() {
    let path = CString::new(built().into_os_string().into_encoded_bytes()).expect("path");
    // SAFETY: a library without initialisers that touch anything; names are C strings; handles are kept.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!library.is_null(), "{path:?} does not load: {:?}", CStr::from_ptr(libc::dlerror()));
        // Under the name that ROCr uses, although the file is named otherwise.
        let by_name = libc::dlopen(c"libhsa-amd-aqlprofile64.so".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        assert_eq!(by_name, library);
        for name in NAMES {
            assert!(!libc::dlsym(library, name.as_ptr()).is_null(), "{name:?}");
        }
        let major = libc::dlsym(library, NAMES[0].as_ptr());
        let major = std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> u32>(major);
        assert!(major() >= 1, "ROCr asks for version 1 or later");
    }
}
