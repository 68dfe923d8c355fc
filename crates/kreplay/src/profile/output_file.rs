//! The file that a profile is written to.

use std::path::{Path, PathBuf};

use kreplay_store::{Existing, RunInfo, StoreError, Writer};

use crate::cli::ProfileOptions;
use crate::error::ExpectedError;

/// The end of every profile's name.
const END: &str = "kreplay";

/// How many names are tried before giving up.
const NAMES: u32 = 10_000;

/// Creates the file that the user named, or one with a free name made from the program's.
///
/// # Errors
/// [`ExpectedError::Store`].
pub(super) fn create(options: &ProfileOptions, run: &RunInfo) -> Result<Writer, ExpectedError> {
    let existing = if options.overwrite { Existing::Replace } else { Existing::Refuse };
    if let Some(path) = &options.output {
        return Ok(Writer::create(path, existing, run)?);
    }
    let program = options.program.first().map(Path::new).and_then(Path::file_name);
    let base = program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "profile".into());
    let mut number = 1;
    loop {
        let path = match number {
            1 => PathBuf::from(format!("{base}.{END}")),
            _ => PathBuf::from(format!("{base}-{number}.{END}")),
        };
        match Writer::create(&path, existing, run) {
            Err(StoreError::Exists { .. }) if number < NAMES => number += 1,
            done => return Ok(done?),
        }
    }
}

/// Removes the file of a run that never began.
pub(super) fn discard(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Nothing is lost when it stays: it says itself that it holds nothing.
        let _ = std::fs::remove_file(name);
    }
}
