//! Building test programs, once for all tests that need them.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use crate::{Program, build_folder};

/// The levels of optimisation that every program is built at.
pub const OPTIMISATIONS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// The compiler, for AMD's GPUs: where there is a CUDA toolkit too it would take that.
pub(crate) fn hipcc() -> Command {
    let mut hipcc = Command::new("hipcc");
    hipcc.env("HIP_PLATFORM", "amd");
    hipcc
}

/// The executable of a program at a level of optimisation; built when it is not there yet or its source has changed.
///
/// # Panics
/// When it does not compile.
pub fn build(program: &Program, optimisation: &str) -> PathBuf {
    compiled(program, optimisation, "", &[])
}

/// As [`build`], of a library.
///
/// # Panics
/// When it does not compile.
pub fn build_library(program: &Program, optimisation: &str) -> PathBuf {
    compiled(program, optimisation, ".so", &["-shared", "-fPIC"])
}

fn compiled(program: &Program, optimisation: &str, end: &str, options: &[&str]) -> PathBuf {
    let folder = build_folder().join("test-programs");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let built = folder.join(format!("{}{optimisation}-{:016x}{end}", program.name, digest(program)));
    // Tests run in processes of their own, so only one of them may build a program.
    let lock =
        File::create(folder.join(format!("{}{optimisation}.lock", program.name))).expect("a lock file can be made");
    flock(&lock, FlockOperation::LockExclusive).expect("a lock file can be locked");
    if !built.exists() {
        let unfinished = built.with_extension("new");
        let output = hipcc()
            .args([optimisation, "-std=c++17", "--offload-arch=gfx90a", "-Wall", "-Wextra", "-pthread"])
            .args(["-I".as_ref(), program.source.parent().expect("a source lies in a folder").as_os_str()])
            .args(["-I/usr/include/rocrand", "-I/usr/include/hiprand"])
            .args(options)
            .arg(&program.source)
            .arg("-o")
            .arg(&unfinished)
            .arg("-ldl")
            .output()
            .expect("hipcc can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} does not compile at {optimisation}:\n{errors}", program.name);
        fs::rename(&unfinished, &built).expect("the result can be named");
    }
    built
}

/// Changes when the program or what it may include changes.
fn digest(program: &Program) -> u64 {
    let mut hasher = DefaultHasher::new();
    fs::read(&program.source).expect("the source can be read").hash(&mut hasher);
    for folder in ["programs", "leaving"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = fs::read_dir(&folder).expect("a folder of sources can be read");
        let mut headers: Vec<PathBuf> = files.map(|file| file.expect("the folder can be read").path()).collect();
        headers.retain(|file| file.extension().is_some_and(|extension| extension == "h"));
        headers.sort();
        for header in headers {
            fs::read(header).expect("the header can be read").hash(&mut hasher);
        }
    }
    hasher.finish()
}
