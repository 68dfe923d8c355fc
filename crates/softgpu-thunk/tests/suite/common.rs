//! Building the thunk and the programs of `programs/`, and running programs on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Says why a test does not run; in CI, where `KREPLAY_NO_SKIP` is set, that is a failure.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("KREPLAY_NO_SKIP").is_none(), "nothing may be skipped here: {why}");
    println!("skipped: {why}");
}

/// Whether a tool is on the path.
fn have(tool: &str) -> bool {
    // Where there is a CUDA toolkit too `hipcc` would take that.
    let asked = Command::new(tool).arg("--version").env("HIP_PLATFORM", "amd").output();
    asked.is_ok_and(|output| output.status.success())
}

/// A directory that holds the thunk as `libhsakmt.so.1`, for the loader's path. Built once for a test process.
pub(crate) fn library_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let deps = std::env::current_exe().expect("the test's own path");
        let profile_dir = deps.parent().and_then(Path::parent).expect("tests run from TARGET/PROFILE/deps");
        // A test target does not make cargo build the package's dynamic library.
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "softgpu-thunk", "--target-dir"]);
        build.arg(profile_dir.parent().expect("a profile's directory is in the target directory"));
        if profile_dir.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "the thunk does not build");
        let dir = scratch().join("lib");
        std::fs::create_dir_all(&dir).expect("a scratch directory");
        std::fs::copy(profile_dir.join("libhsakmt.so"), dir.join("libhsakmt.so.1")).expect("the thunk was built");
        dir
    })
}

/// A directory of this test process.
fn scratch() -> PathBuf {
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIR.get_or_init(|| tempfile::tempdir().expect("a scratch directory")).path().to_owned()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Compiles a program, once for a test process however many tests want it.
fn build(program: PathBuf, mut compiler: Command) -> PathBuf {
    static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if !built.contains(&program) {
        compiler.arg("-o").arg(&program);
        assert!(compiler.status().expect("the compiler runs").success(), "{} does not compile", program.display());
        built.insert(program.clone());
    }
    program
}

/// A C program against the HSA runtime; `None` where there is no compiler or runtime.
pub(crate) fn c_program(name: &str) -> Option<PathBuf> {
    if !have("cc") || !Path::new("/usr/include/hsa/hsa.h").exists() {
        skip("cc and libhsa-runtime-dev are needed");
        return None;
    }
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-g", "-D_GNU_SOURCE", "-Wall", "-Wno-unused", "-pthread"]);
    cc.arg(source(&format!("{name}.c"))).args(["-lhsa-runtime64", "-ldl"]);
    Some(build(scratch().join(name), cc))
}

/// A HIP program at a level of optimisation; `None` where there is no hipcc.
pub(crate) fn hip_program(name: &str, level: &str, libraries: &[&str]) -> Option<PathBuf> {
    if !have("hipcc") {
        skip("hipcc is needed");
        return None;
    }
    let mut hipcc = Command::new("hipcc");
    hipcc.env("HIP_PLATFORM", "amd");
    hipcc.args([level, "--offload-arch=gfx90a", "-Wno-unused-result"]);
    hipcc.arg(source(&format!("{name}.hip"))).args(libraries);
    Some(build(scratch().join(format!("{name}{level}")), hipcc))
}

/// Runs a program on the software GPU. It is ended after five minutes, so that a hang is a failure and not a hang.
pub(crate) fn run(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("300").arg(program).args(arguments).env("LD_LIBRARY_PATH", library_dir());
    for name in ["SOFTGPU_SEED", "SOFTGPU_FAULT", "SOFTGPU_ORACLE", "SOFTGPU_TRACE", "HSA_TOOLS_LIB"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    command.output().expect("the program starts")
}

/// Runs a program that is to succeed and say `wanted`.
pub(crate) fn expect(program: &Path, arguments: &[&str], environment: &[(&str, &str)], wanted: &str) -> Output {
    let output = run(program, arguments, environment);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let ok = output.status.success() && out.contains(wanted);
    assert!(ok, "{} {arguments:?} {environment:?}: {}\n{out}\n{err}", program.display(), output.status);
    output
}
