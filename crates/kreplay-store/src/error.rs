//! What can be wrong with a file.

use std::io;
use std::path::PathBuf;

use crate::{STORE_VERSION, StoreVersion};

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The path is taken.
    #[error("{} exists already", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path is taken by a profile that is still being made.
    #[error("{} is being recorded by another kreplay", path.display())]
    Recording {
        /// The path.
        path: PathBuf,
    },
    /// The path cannot be opened or created.
    #[error("{} cannot be {action}: {source}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// `read`, `created`, …
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no kreplay file.
    #[error("{} is not a kreplay file: {why}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// The file is of another version.
    #[error(
        "{} has format version {found}; this kreplay reads version {STORE_VERSION} and no other",
        path.display()
    )]
    OtherVersion {
        /// The path.
        path: PathBuf,
        /// Its version.
        found: StoreVersion,
    },
    /// The file is a kreplay file, but not whole.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// Writing failed; what was committed before is in the file.
    #[error("writing to {} failed: {source}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}
