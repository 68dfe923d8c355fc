//! Compiling HIP kernels for gfx90a.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Version of the code object and so of the hidden arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abi {
    V4,
    V5,
}

/// The first of some programs that runs.
fn program(names: &[&'static str]) -> Option<&'static str> {
    names
        .iter()
        .copied()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success()))
}

/// What has been compiled already, by how.
static BUILT: Mutex<BTreeMap<String, Option<Vec<u8>>>> = Mutex::new(BTreeMap::new());

/// Compiles `kernels/NAME.hip`, once. `None` when there is no compiler; then the reason has been printed.
pub fn build(name: &str, optimisation: &str, abi: Abi, more: &[&str]) -> Option<Vec<u8>> {
    let key = format!("{name} {optimisation} {abi:?} {more:?}");
    // Compiled under the lock: another test waits for the same code instead of compiling it too.
    let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    built.entry(key).or_insert_with(|| compile(name, optimisation, abi, more)).clone()
}

fn compile(name: &str, optimisation: &str, abi: Abi, more: &[&str]) -> Option<Vec<u8>> {
    let bitcode = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
    let missing = |what: &str| {
        assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "{what} is missing");
        println!("skipped: {what} is missing");
        None
    };
    let Some(clang) = program(&["clang++-19", "clang++"]) else { return missing("clang++-19") };
    if !Path::new(bitcode).exists() {
        return missing("ROCm's device library (package rocm-device-libs)");
    }
    if !Path::new("/usr/include/hip/hip_runtime.h").exists() {
        return missing("HIP's headers (package libamdhip64-dev)");
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exec/kernels").join(format!("{name}.hip"));
    let out: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "{name}-{optimisation}-{abi:?}-{}-{:?}.co",
        std::process::id(),
        std::thread::current().id()
    ));
    let version = if abi == Abi::V4 { "-mcode-object-version=4" } else { "-mcode-object-version=5" };
    let output = Command::new(clang)
        .args(["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "--offload-arch=gfx90a", "-fuse-ld=lld"])
        .args(["--rocm-path=/usr", &format!("--rocm-device-lib-path={bitcode}"), optimisation, version])
        .args(["-Wno-unused-command-line-argument"])
        .args(more)
        .arg(source)
        .arg("-o")
        .arg(&out)
        .output()
        .expect("the compiler starts");
    assert!(output.status.success(), "compiling {name}: {}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&out).expect("the compiler's output can be read");
    std::fs::remove_file(out).expect("the compiler's output can be removed");
    Some(bytes)
}
