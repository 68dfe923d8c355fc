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
/// [`ExpectedError::Store`], [`ExpectedError::NotReplaced`] for what `--overwrite` leaves alone, or [`ExpectedError::Usage`] for `-`.
pub(super) fn create(options: &ProfileOptions, run: &RunInfo) -> Result<Draft, ExpectedError> {
    let existing = if options.overwrite { Existing::Replace } else { Existing::Refuse };
    if let Some(path) = &options.output {
        if path.as_os_str() == "-" {
            return Err(ExpectedError::Usage {
                what: "a profile cannot be written to standard output, which is the program's".into(),
                hint: "name a file; `./-` is one of that name".into(),
            });
        }
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
        StoreError::Foreign { .. } | StoreError::OtherVersion { .. } | StoreError::Path { action: "read", .. } => {
            ExpectedError::NotReplaced(error)
        }
        other => ExpectedError::Store(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_link_to_nowhere_is_refused_with_a_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let words = ["kreplay", "profile", "--overwrite", "-o", link.to_str().unwrap(), "--", "true"];
        let Command::Profile(options) = Cli::try_parse_from(words).unwrap().command else { panic!("not a profile") };
        let run = RunInfo {
            command: Vec::new(),
            directory: String::new(),
            host: String::new(),
            settings: kreplay_protocol::Settings::default(),
            start_unix_ns: 0,
        };
        let error = create(&options, &run).unwrap_err();
        assert!(matches!(error, ExpectedError::NotReplaced(_)), "{error}");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
