//! A folder of this run that nobody else can look into.

use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::ExpectedError;

/// The longest path that leaves room for a socket's name: a socket's address holds 108 bytes.
const LONGEST: usize = 90;

/// A folder with mode 0700, removed when dropped.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: TempDir,
}

impl PrivateFolder {
    /// Makes one where temporary files go; in `/tmp` where that is too long for a socket, or could not be told apart in
    /// a list of folders for the loader.
    ///
    /// # Errors
    /// [`ExpectedError::Io`].
    pub(super) fn make() -> Result<Self, ExpectedError> {
        let mut place = std::env::temp_dir();
        let path = place.as_os_str().as_bytes();
        if path.len() > LONGEST - "/kreplay-XXXXXX".len() || path.iter().any(|byte| matches!(byte, b':' | b';' | b'$'))
        {
            place = PathBuf::from("/tmp");
        }
        let failed = |source: io::Error| ExpectedError::Io {
            what: format!("a private folder in {}", place.display()),
            action: "made",
            source,
        };
        // Said and not left to the umask: the crate's default is a folder that others can read.
        let folder = tempfile::Builder::new()
            .prefix("kreplay-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&place)
            .map_err(failed)?;
        Ok(Self { folder })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}
