//! Gives the library the name by which ROCr opens it, so that it is found both in a directory of the search path (as a
//! file of that name) and when it is already loaded under any file name.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhsa-amd-aqlprofile64.so");
    println!("cargo:rerun-if-changed=build.rs");
}
