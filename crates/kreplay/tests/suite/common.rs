//! Running the built command on the scripted program.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use kreplay_store::{DispatchRow, Reader, StoreError};
use tempfile::TempDir;

/// A folder with stand-ins for kreplay's libraries: the scripted program loads none.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let libraries = folder.path().join("libraries");
        std::fs::create_dir(&libraries).unwrap();
        for name in ["libkreplay.so", "libhsakmt.so", "libhsa_amd_aqlprofile64.so"] {
            std::fs::write(libraries.join(name), "").unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command, in this folder.
    pub(crate) fn kreplay(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kreplay"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("KREPLAY_LIB_DIR", self.path("libraries"))
            .env_remove("KREPLAY_SOCKET")
            .env_remove("HSA_TOOLS_LIB")
            .stdin(Stdio::null());
        command
    }

    /// A profile of the scripted program into `run.kreplay`.
    pub(crate) fn profile(&self, options: &[&str], steps: &[&str]) -> Command {
        let mut command = self.kreplay(&["profile", "--device", "soft", "-c", "SQ_WAVES", "-o", "run.kreplay"]);
        command.args(options).arg("--").arg(program()).args(steps);
        command
    }

    /// The profile that was written.
    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.path("run.kreplay")).unwrap()
    }

    /// Waits until so many dispatches can be read while the file is written.
    pub(crate) fn wait_for_dispatches(&self, count: usize) {
        while self.dispatches().len() < count {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    pub(crate) fn dispatches(&self) -> Vec<DispatchRow> {
        let mut rows = Vec::new();
        self.reader()
            .for_each_dispatch(|row| {
                rows.push(row);
                Ok::<_, StoreError>(())
            })
            .unwrap();
        rows
    }
}

/// The scripted program, an example of this package.
pub(crate) fn program() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_kreplay")).with_file_name("examples/scripted_program");
    assert!(built.exists(), "{} is not there; run `cargo build -p kreplay --examples` first", built.display());
    built
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Waits until a file is there; a step of the scripted program makes it.
pub(crate) fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Sends a signal, `-TERM` or the like.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}
