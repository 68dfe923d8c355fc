//! Building test programs, once for all tests that need them.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use crate::{Program, build_folder};

/// The levels of optimisation that every program is built at.
pub const OPTIMISATIONS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// The executable of a program at a level of optimisation; built when it is not there yet or its source has changed.
///
/// # Panics
/// When it does not compile.
pub fn build(program: &Program, optimisation: &str) -> PathBuf {
    let folder = build_folder().join("test-programs");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let executable = folder.join(format!("{}{optimisation}-{:016x}", program.name, digest(program)));
    // Tests run in processes of their own, so only one of them may build a program.
    let lock =
        File::create(folder.join(format!("{}{optimisation}.lock", program.name))).expect("a lock file can be made");
    flock(&lock, FlockOperation::LockExclusive).expect("a lock file can be locked");
    if !executable.exists() {
        let unfinished = executable.with_extension("new");
        let output = Command::new("hipcc")
            .args([optimisation, "-std=c++17", "--offload-arch=gfx90a", "-Wall", "-Wextra", "-pthread"])
            .args(["-I".as_ref(), program.source.parent().expect("a source lies in a folder").as_os_str()])
            .args(["-I/usr/include/rocrand", "-I/usr/include/hiprand"])
            .arg(&program.source)
            .arg("-o")
            .arg(&unfinished)
            .output()
            .expect("hipcc can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} does not compile at {optimisation}:\n{errors}", program.name);
        fs::rename(&unfinished, &executable).expect("the executable can be named");
    }
    executable
}

/// Changes when the program or what it includes changes.
fn digest(program: &Program) -> u64 {
    let mut hasher = DefaultHasher::new();
    fs::read(&program.source).expect("the source can be read").hash(&mut hasher);
    fs::read(program.source.with_file_name("check.h")).expect("the header can be read").hash(&mut hasher);
    hasher.finish()
}
