//! Makes the library usable as `libhsakmt.so.1`: its name inside, and the version node that ROCr asks for.
//!
//! ROCr imports every thunk function as `NAME@HSAKMT_1`. rustc exports functions by a version script of its own, which would leave
//! them without a version; a `.symver` directive beside each function, in the same module, gives it one. The names are read from the
//! sources, so that none is forgotten.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for entry in fs::read_dir("src").expect("the crate has sources") {
        let path = entry.expect("a readable directory").path();
        let text = fs::read_to_string(&path).expect("a readable source");
        let mut directives = String::new();
        for part in text.split("extern \"C\" fn hsaKmt").skip(1) {
            let name = &part[..part.find('(').expect("a function has parameters")];
            writeln!(directives, "std::arch::global_asm!(\".symver hsaKmt{name}, hsaKmt{name}@@@HSAKMT_1\");")
                .expect("a string takes any text");
        }
        let module = path.file_stem().expect("a file has a name").to_string_lossy();
        fs::write(out.join(format!("{module}_versions.rs")), directives).expect("OUT_DIR is writable");
    }
    let script = out.join("versions.map");
    fs::write(&script, "HSAKMT_1 {\n};\n").expect("OUT_DIR is writable");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={}", script.display());
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhsakmt.so.1");
}
