//! Taking a name for a new file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

use crate::replaced::{Replaced, files};
use crate::turn::{self, Taking, Turn};
use crate::{Existing, StoreError, header, side_files};

/// What a rollback journal of SQLite begins with; zeros until it has been written out.
const JOURNAL: [[u8; 8]; 2] = [[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7], [0; 8]];

/// A name with an empty file of ours. Until it is kept, dropping it frees the name and puts back what had it before.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    /// Device and number of the file, by which it is told from what others put there.
    own: (u64, u64),
    kept: bool,
    /// Until the file is locked by its writer.
    turn: Option<Turn>,
    /// Put back after the name is free.
    replaced: Option<Replaced>,
}

impl Claim {
    /// Makes an empty file at `path`, so that no one else can take the name. Nobody replaces it before [`Claim::settle`].
    ///
    /// # Errors
    /// As [`crate::Writer::create`].
    pub(crate) fn make(path: &Path, existing: Existing) -> Result<Self, StoreError> {
        Self::make_within(path, existing, turn::PATIENCE)
    }

    fn make_within(path: &Path, existing: Existing, patience: Duration) -> Result<Self, StoreError> {
        let taking = if existing == Existing::Replace { Taking::Replacing } else { Taking::Free };
        let turn = Turn::take(path, taking, patience)?;
        let (file, replaced) = match create(path) {
            Ok(file) => (file, None),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(path, error)),
            Err(_) if existing == Existing::Refuse => return Err(StoreError::Exists { path: path.to_owned() }),
            Err(_) => {
                check_replaceable(path)?;
                let replaced = Replaced::move_aside(path)?;
                (create(path).map_err(|error| failed(path, error))?, Some(replaced))
            }
        };
        let own = identity(&file.metadata().map_err(|error| failed(path, error))?);
        Ok(Claim { path: path.to_owned(), own, kept: false, turn: Some(turn), replaced })
    }

    /// The writer has locked the file: it is seen to be recorded.
    pub(crate) fn settle(&mut self) {
        self.turn = None;
    }

    /// Keeps the name. What had it before is gone.
    pub(crate) fn keep(mut self) {
        self.kept = true;
        if let Some(replaced) = self.replaced.take() {
            replaced.remove();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Without it nothing is lost either: what is not ours stays.
        let _turn = self.turn.take().or_else(|| Turn::take(&self.path, Taking::Replacing, turn::PATIENCE).ok());
        if fs::symlink_metadata(&self.path).is_ok_and(|found| identity(&found) == self.own) {
            for file in files(&self.path) {
                // Nothing is lost when one stays: it holds nothing.
                let _ = fs::remove_file(file);
            }
        }
        drop(self.replaced.take());
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

pub(crate) fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Path { path: path.to_owned(), action: "created", source }
}

/// Whether what has the name may go: a kreplay file of a version that this build reads and that nobody records, or an
/// empty one, which a command left that was killed at once.
fn check_replaceable(path: &Path) -> Result<(), StoreError> {
    let unreadable = |source| StoreError::Path { path: path.to_owned(), action: "read", source };
    let empty = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    if empty {
        check_sides_of_empty(path)?;
    } else {
        header::check(path)?;
    }
    let file = File::open(path).map_err(unreadable)?;
    // SQLite's own lock, held by a writer from its first transaction on; it goes when the file is closed. Where nothing can
    // be locked, nothing is.
    match fcntl_lock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::AGAIN | Errno::ACCESS) => Err(StoreError::Recording { path: path.to_owned() }),
        _ => Ok(()),
    }
}

/// Beside an empty file there is nothing of ours but the journal of a first transaction.
fn check_sides_of_empty(path: &Path) -> Result<(), StoreError> {
    for side in side_files::beside(path) {
        let mut head = Vec::new();
        // What cannot be read is found out when it is moved.
        let _ = File::open(&side).and_then(|file| file.take(8).read_to_end(&mut head));
        if !head.is_empty() && !JOURNAL.iter().any(|journal| head == journal) {
            let why = format!("it is empty, and {} is not of a profile", side.display());
            return Err(StoreError::Foreign { path: path.to_owned(), why });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(path: &Path, existing: Existing) -> Result<Claim, StoreError> {
        Claim::make_within(path, existing, Duration::ZERO)
    }

    #[test]
    fn nobody_replaces_a_file_that_is_not_locked_yet() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new.kreplay");
        for existing in [Existing::Refuse, Existing::Replace] {
            let mut first = taken(&path, existing).unwrap();
            let error = taken(&path, Existing::Replace).unwrap_err();
            assert!(error.to_string().contains("keeps its folder locked"), "{error}");
            let own = identity(&fs::metadata(&path).unwrap());
            assert_eq!(own, first.own, "the file of the first went");
            first.settle();
            // A writer would have locked it now. Without one it seems to be left by a command that was killed.
            let second = taken(&path, Existing::Replace).unwrap();
            assert_ne!(second.own, own);
            drop(second);
            assert_eq!(identity(&fs::metadata(&path).unwrap()), own, "it is put back");
        }
        assert!(!path.exists());
    }

    #[test]
    fn files_with_free_names_are_begun_beside_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let first = taken(&directory.path().join("first.kreplay"), Existing::Refuse).unwrap();
        let second = taken(&directory.path().join("second.kreplay"), Existing::Refuse).unwrap();
        let error = taken(&first.path, Existing::Refuse).unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        drop((first, second));
    }

    #[test]
    fn what_others_put_at_the_name_is_theirs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine.kreplay");
        let claim = taken(&path, Existing::Refuse).unwrap();
        let other = directory.path().join("other");
        fs::write(&other, "theirs").unwrap();
        fs::rename(&other, &path).unwrap();
        drop(claim);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }
}
