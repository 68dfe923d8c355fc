//! The whole way through the real ROCr: a C program against ROCm's own headers counts a kernel whose numbers are known
//! by hand.

use std::path::{Path, PathBuf};
use std::process::Command;

fn skipped(why: &str) {
    assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "nothing may be skipped here, but {why}");
    println!("skipped: {why}");
}

/// Runs a tool; what went wrong as an error.
fn tool(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() { Ok(out) } else { Err(format!("{command:?}: {}\n{out}{err}", output.status)) }
}

/// The library of a crate, where `cargo build --workspace` puts it.
fn built(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    Some(test.parent()?.parent()?.join(name)).filter(|path| path.exists())
}

#[test]
fn a_kernel_counted_by_hand_gives_the_same_numbers() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = here.join("tests/programs");
    if !Path::new("/usr/include/hsa/hsa_ven_amd_aqlprofile.h").exists() {
        return skipped("ROCr's headers are missing; on Debian 12: apt-get install libhsa-runtime-dev");
    }
    if Command::new("clang-19").arg("--version").output().is_err() {
        return skipped("clang-19 is missing, which assembles the kernel; apt-get install clang-19 lld-19");
    }
    let (Some(thunk), Some(library)) = (built("libhsakmt.so"), built("libhsa_amd_aqlprofile64.so")) else {
        return skipped("the software GPU's libraries are not built; run `cargo build --workspace` first");
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name);
    let mut assemble = Command::new("clang-19");
    assemble.args(["-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-mcode-object-version=4"]);
    assemble.args(["-fuse-ld=lld", "-o"]).arg(at("straight.co")).arg(programs.join("straight.s"));
    tool(&mut assemble).expect("the kernel assembles");
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-O1", "-DHSA_LARGE_MODEL", "-I"]).arg(here.join("../softgpu-thunk/tests/programs"));
    compile.arg("-o").arg(at("counters")).arg(programs.join("counters.c")).arg("-lhsa-runtime64");
    tool(&mut compile).expect("the program compiles");
    // ROCr looks the counter library up by its name.
    std::os::unix::fs::symlink(library, at("libhsa-amd-aqlprofile64.so")).expect("link");
    std::os::unix::fs::symlink(thunk, at("libhsakmt.so.1")).expect("link");
    let mut run = Command::new(at("counters"));
    run.arg(at("straight.co")).env("LD_LIBRARY_PATH", folder.path());
    let out = tool(&mut run).unwrap_or_else(|error| panic!("{error}"));
    print!("{out}");
    assert!(out.ends_with("counters: all checks passed\n"), "{out}");
}
