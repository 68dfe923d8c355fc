//! Makes the library usable as `libhsakmt.so.1`: its name inside, and the version node that ROCr asks for.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // ROCr imports every thunk function as NAME@HSAKMT_1. The names are read from the sources, so that none is forgotten.
    let mut names = Vec::new();
    for entry in fs::read_dir("src").expect("the crate has sources") {
        let text = fs::read_to_string(entry.expect("a readable directory").path()).expect("a readable source");
        for part in text.split("extern \"C\" fn hsaKmt").skip(1) {
            let end = part.find('(').expect("a function has parameters");
            names.push(format!("    hsaKmt{};\n", &part[..end]));
        }
    }
    names.sort();
    assert!(!names.is_empty(), "no thunk function found in src");
    let script = out.join("versions.map");
    fs::write(&script, format!("HSAKMT_1 {{\nglobal:\n{}}};\n", names.concat())).expect("OUT_DIR is writable");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={}", script.display());
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhsakmt.so.1");
}
