//! The file that a profile is written to.

use std::path::{Path, PathBuf};

use kreplay_store::{Draft, Existing, RunInfo, StoreError};

use crate::cli::ProfileOptions;
use crate::error::ExpectedError;

/// The end of every profile's name.
const END: &str = "kreplay";

/// How many names are tried before giving up.
const NAMES: u32 = 10_000;

/// Creates the file that the user named, or one with a free name made from the program's. It is kept once the program runs.
///
/// # Errors
/// [`ExpectedError::Store`], or [`ExpectedError::NotReplaced`] for what `--overwrite` leaves alone.
pub(super) fn create(options: &ProfileOptions, run: &RunInfo) -> Result<Draft, ExpectedError> {
    let existing = if options.overwrite { Existing::Replace } else { Existing::Refuse };
    if let Some(path) = &options.output {
        return Draft::create(path, existing, run).map_err(refused);
    }
    let program = options.program.first().map(Path::new).and_then(Path::file_name);
    let base = program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "profile".into());
    let mut number = 1;
    loop {
        let path = match number {
            1 => PathBuf::from(format!("{base}.{END}")),
            _ => PathBuf::from(format!("{base}-{number}.{END}")),
        };
        match Draft::create(&path, existing, run) {
            Err(StoreError::Exists { .. }) if number < NAMES => number += 1,
            done => return done.map_err(refused),
        }
    }
}

fn refused(error: StoreError) -> ExpectedError {
    match error {
        StoreError::Foreign { .. } | StoreError::OtherVersion { .. } => ExpectedError::NotReplaced(error),
        other => ExpectedError::Store(other),
    }
}
