//! The files that SQLite keeps beside a database, and how to read a database that has some without touching any.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// How often a copy is taken again when the writer changed the file meanwhile.
const ATTEMPTS: usize = 5;

/// Names of files that would hold content of the database at `path`.
pub(crate) fn beside(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-journal"].map(|suffix| {
        let mut name = OsString::from(path);
        name.push(suffix);
        PathBuf::from(name)
    })
}

/// Whether any of them has content.
pub(crate) fn any_content(path: &Path) -> bool {
    beside(path).iter().any(|side| fs::metadata(side).is_ok_and(|found| found.len() > 0))
}

/// A private copy of a database and its side files, removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    directory: tempfile::TempDir,
}

impl PrivateCopy {
    /// Copies the database at `path` and what is beside it.
    pub(crate) fn take(path: &Path) -> Result<Self, StoreError> {
        let failed = |action| move |source| StoreError::Path { path: path.to_owned(), action, source };
        let directory = tempfile::Builder::new()
            .prefix("kreplay-read-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .map_err(failed("copied aside"))?;
        let copy = PrivateCopy { directory };
        for _ in 0..ATTEMPTS {
            let before = state(path).map_err(failed("read"))?;
            // The database first: the log only grows, and what is in the log but not needed is ignored.
            fs::copy(path, copy.path()).map_err(failed("copied aside"))?;
            for (from, to) in beside(path).iter().zip(beside(&copy.path())) {
                match fs::copy(from, &to) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        let _ = fs::remove_file(&to);
                    }
                    Err(error) => return Err(failed("copied aside")(error)),
                }
            }
            if state(path).map_err(failed("read"))? == before {
                return Ok(copy);
            }
        }
        Err(failed("read")(io::Error::other("it is being written to too fast; try again")))
    }

    /// The copy of the database.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("copy.kreplay")
    }
}

/// What changes when the writer moves content from the log into the database.
#[derive(PartialEq, Eq)]
struct State {
    /// Size of the database.
    bytes: u64,
    /// Time of its last change.
    modified: Option<std::time::SystemTime>,
    /// Headers of the side files; a log that is begun again gets new salts.
    heads: Vec<Option<Vec<u8>>>,
}

fn state(path: &Path) -> io::Result<State> {
    use std::io::Read;
    let found = fs::metadata(path)?;
    let heads = beside(path)
        .iter()
        .map(|side| {
            let mut head = Vec::new();
            let file = fs::File::open(side).ok()?;
            file.take(32).read_to_end(&mut head).ok()?;
            Some(head)
        })
        .collect();
    Ok(State { bytes: found.len(), modified: found.modified().ok(), heads })
}
