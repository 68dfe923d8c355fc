//! What is committed but generated: code objects and the tables of the docs that come from the code.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::code_objects::{self, Checked};
use crate::doc_tables;
use crate::shell;

/// Whether generated files are written or only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Written where they differ.
    Write,
    /// Compared; a difference is an error.
    Check,
}

impl Mode {
    /// Makes the file `path` hold `bytes`, or checks that it does. `task` is the `cargo xtask` that writes it.
    ///
    /// # Errors
    /// When the file cannot be written, or in [`Mode::Check`] when it holds something else.
    pub(crate) fn apply(self, task: &str, path: &Path, bytes: &[u8]) -> Result<()> {
        let shown = path.strip_prefix(shell::root()).unwrap_or(path).display();
        if std::fs::read(path).is_ok_and(|committed| committed == bytes) {
            println!("same     {shown}");
            return Ok(());
        }
        match self {
            Mode::Check => {
                bail!("{shown} is not what its source gives; run `cargo xtask {task}` and commit the result")
            }
            Mode::Write => {
                std::fs::write(path, bytes).with_context(|| format!("{shown} could not be written"))?;
                println!("written  {shown}");
                Ok(())
            }
        }
    }
}

/// Generates everything.
///
/// # Errors
/// See [`Mode::apply`]; a source that does not compile.
pub(crate) fn run(mode: Mode) -> Result<()> {
    check(mode).map(|_| ())
}

/// Generates everything and tells whether all of it could be done.
///
/// # Errors
/// As [`run`].
pub(crate) fn check(mode: Mode) -> Result<Checked> {
    doc_tables::run(mode)?;
    code_objects::run(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_task_that_writes_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.md");
        std::fs::write(&path, "old").expect("written");
        let error = Mode::Check.apply("bench", &path, b"new").expect_err("it differs").to_string();
        assert!(error.contains("run `cargo xtask bench` and commit"), "{error}");
        assert!(Mode::Write.apply("bench", &path, b"new").is_ok() && Mode::Check.apply("bench", &path, b"new").is_ok());
    }
}
