//! Running a program plain and under `kreplay profile`, both on the software GPU.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use kreplay_store::{DispatchRow, Reader, StoreError};
use tempfile::TempDir;

use crate::process::{Ended, run};
use crate::{binary, build_folder, build_library, library, part};

/// A command that runs a program on the software GPU, with nothing of kreplay's own around it.
pub fn plain(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library("hsakmt")).env("LD_LIBRARY_PATH", build_folder());
    command
}

/// A profiled run to be started.
#[derive(Debug)]
pub struct Profile {
    folder: TempDir,
    options: Vec<OsString>,
    environment: Vec<(String, OsString)>,
}

/// A profiled run that has ended.
#[derive(Debug)]
pub struct Profiled {
    /// How the command ended: as the program did.
    pub ended: Ended,
    /// The file it wrote.
    pub file: PathBuf,
    folder: TempDir,
}

impl Default for Profile {
    fn default() -> Self {
        Self::new()
    }
}

impl Profile {
    /// A run on the software GPU with the default settings.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("kreplay-test-").expect("a temporary folder can be made");
        Self { folder, options: vec!["--device".into(), "soft".into(), "--quiet".into()], environment: Vec::new() }
    }

    /// Adds options of `kreplay profile`.
    pub fn options<'a>(mut self, options: impl IntoIterator<Item = &'a str>) -> Self {
        self.options.extend(options.into_iter().map(OsString::from));
        self
    }

    /// One group of counters, run this many times.
    pub fn passes(self, passes: u32) -> Self {
        self.options(["-c", "SQ_WAVES", "--passes", &passes.to_string()])
    }

    /// The kind of windows: `kernel`, `batch` or `auto`.
    pub fn window(self, kind: &str) -> Self {
        self.options(["--window", kind])
    }

    /// Keeps the write set of each dispatch, range by range.
    pub fn write_sets(self) -> Self {
        self.options(["--write-sets"])
    }

    /// Leaves every restore out: what then goes wrong shows what the restore is for.
    pub fn without_restore(self) -> Self {
        self.environment("KREPLAY_TEST_SKIP_RESTORE", "1")
    }

    /// Sets a variable of the environment.
    pub fn environment(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// A path in the run's own folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command, not started yet, and the file it will write.
    pub fn command<'a>(&self, program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> (Command, PathBuf) {
        let file = self.path("run.kreplay");
        let mut command = Command::new(binary("kreplay"));
        command.arg("profile").args(&self.options).arg("-o").arg(&file);
        command.arg("--").arg(program).args(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        (command, file)
    }

    /// Runs a program whose runtime hands packets to kreplay several at a time, as newer ones do, by way of `tests/leaving/bundled.hip`.
    ///
    /// # Panics
    /// As [`Profile::run`], and when hipcc is missing.
    pub fn run_bundled<'a>(self, program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Profiled {
        /// Puts the library between the runtime and kreplay, whose place is known only in the program's environment.
        const BETWEEN: &str = r#"BUNDLED_TOOL="$HSA_TOOLS_LIB" HSA_TOOLS_LIB="$0" exec "$@""#;
        let library = build_library(&part("bundled"), "-O2");
        let own = [library.as_path(), program].map(|path| path.to_str().expect("a path in UTF-8").to_owned());
        let words =
            ["-c", BETWEEN].map(str::to_owned).into_iter().chain(own).chain(arguments.into_iter().map(str::to_owned));
        let words: Vec<String> = words.collect();
        self.run(Path::new("/bin/sh"), words.iter().map(String::as_str))
    }

    /// Runs a program.
    ///
    /// # Panics
    /// When it cannot be started or hangs.
    pub fn run<'a>(self, program: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Profiled {
        let (mut command, file) = self.command(program, arguments);
        let ended = run(&mut command);
        Profiled { ended, file, folder: self.folder }
    }
}

impl Profiled {
    /// Every dispatch in the file.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn dispatches(&self) -> Vec<DispatchRow> {
        dispatches(&self.file).unwrap_or_else(|error| panic!("{error}\nthe command wrote:\n{}", self.ended.stderr))
    }

    /// The reason that closed each window, in the order of their numbers.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn closings(&self) -> Vec<String> {
        let reason = |closed_by: String| closed_by.split(" (").next().unwrap_or_default().to_owned();
        self.closed_by().into_iter().map(reason).collect()
    }

    /// As [`Profiled::closings`], with the call behind a reason.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn closed_by(&self) -> Vec<String> {
        let windows = Reader::open(&self.file).and_then(|reader| reader.windows());
        windows.unwrap_or_else(|error| panic!("{error}")).into_iter().map(|window| window.closed_by).collect()
    }

    /// The dispatches of the kernels whose name holds `kernel`.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn dispatches_of(&self, kernel: &str) -> Vec<DispatchRow> {
        self.dispatches().into_iter().filter(|row| row.kernel.contains(kernel)).collect()
    }

    /// A path in the run's own folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Every dispatch in a file.
///
/// # Errors
/// When it cannot be read.
pub fn dispatches(file: &Path) -> Result<Vec<DispatchRow>, StoreError> {
    let mut rows = Vec::new();
    Reader::open(file)?.for_each_dispatch::<StoreError>(|row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}
