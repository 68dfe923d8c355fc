//! What had a name before a new file took it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::claim::failed;
use crate::{StoreError, side_files, turn};

/// What had the name, in a folder beside it so that moving is renaming. Dropping it puts it back.
#[derive(Debug)]
pub(crate) struct Replaced {
    path: PathBuf,
    folder: Option<TempDir>,
}

impl Replaced {
    pub(crate) fn move_aside(path: &Path) -> Result<Self, StoreError> {
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

    pub(crate) fn remove(mut self) {
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
pub(crate) fn files(path: &Path) -> [PathBuf; 4] {
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

fn folder_beside(path: &Path) -> Result<TempDir, StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".replaced-");
    tempfile::Builder::new()
        .prefix(&name)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(turn::folder_of(path))
        .map_err(|error| failed(path, error))
}
