//! Taking a name for a new file, and what had it before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use tempfile::TempDir;

use crate::{Existing, StoreError, header, side_files};

/// What a rollback journal of SQLite begins with; zeros until it has been written out.
const JOURNAL: [[u8; 8]; 2] = [[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7], [0; 8]];

/// A name with an empty file of ours. Until it is kept, dropping it frees the name and puts back what had it before.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    kept: bool,
    /// Put back after the name is free.
    replaced: Option<Replaced>,
}

impl Claim {
    /// Makes an empty file at `path`, so that no one else can take the name.
    ///
    /// # Errors
    /// As [`crate::Writer::create`].
    pub(crate) fn make(path: &Path, existing: Existing) -> Result<Self, StoreError> {
        match create(path) {
            Ok(_) => Ok(Claim { path: path.to_owned(), kept: false, replaced: None }),
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(path, error)),
            Err(_) if existing == Existing::Refuse => Err(StoreError::Exists { path: path.to_owned() }),
            Err(_) => {
                check_replaceable(path)?;
                let replaced = Replaced::move_aside(path)?;
                create(path).map_err(|error| failed(path, error))?;
                Ok(Claim { path: path.to_owned(), kept: false, replaced: Some(replaced) })
            }
        }
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
        for file in files(&self.path) {
            // Nothing is lost when one stays: it holds nothing.
            let _ = fs::remove_file(file);
        }
    }
}

/// What had the name, in a folder beside it so that moving is renaming. Dropping it puts it back.
#[derive(Debug)]
struct Replaced {
    path: PathBuf,
    folder: Option<TempDir>,
}

impl Replaced {
    fn move_aside(path: &Path) -> Result<Self, StoreError> {
        let replaced = Replaced { path: path.to_owned(), folder: Some(folder_beside(path)?) };
        // The file first: without its log it would seem whole. What has been moved is put back where the next cannot be.
        for file in files(path) {
            rename_if_there(&file, &replaced.aside(&file)).map_err(|error| failed(path, error))?;
        }
        Ok(replaced)
    }

    fn aside(&self, file: &Path) -> PathBuf {
        let folder = self.folder.as_ref().map(TempDir::path).unwrap_or(Path::new(""));
        folder.join(file.file_name().unwrap_or_default())
    }

    fn remove(mut self) {
        // A folder that stays holds nothing that is needed.
        drop(self.folder.take());
    }

    fn put_back(&self) -> io::Result<()> {
        for file in files(&self.path).iter().rev() {
            let aside = self.aside(file);
            // Somebody else may have taken the name meanwhile.
            if fs::symlink_metadata(file).is_ok() && fs::symlink_metadata(&aside).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            rename_if_there(&aside, file)?;
        }
        Ok(())
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        if self.folder.is_some() && self.put_back().is_err() {
            // Better in a place where nobody expects it than lost.
            let _ = self.folder.take().map(TempDir::keep);
        }
    }
}

/// A file and those that SQLite keeps beside it.
fn files(path: &Path) -> [PathBuf; 4] {
    let [log, journal] = side_files::beside(path);
    let mut index = path.as_os_str().to_owned();
    index.push("-shm");
    [path.to_owned(), log, journal, index.into()]
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn folder_beside(path: &Path) -> Result<TempDir, StoreError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".replaced-");
    tempfile::Builder::new()
        .prefix(&name)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(|error| failed(path, error))
}

fn failed(path: &Path, source: io::Error) -> StoreError {
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
