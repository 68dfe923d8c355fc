//! Taking turns with the names of a folder.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::StoreError;

/// How long others may keep a folder. Each needs it for as long as it takes to begin a file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is tried again.
const AGAIN: Duration = Duration::from_millis(5);

/// How a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    /// Only where it is free: any number of such may go on together.
    Free,
    /// Also where something of the name has to go: nobody else takes a name of the folder meanwhile.
    Replacing,
}

/// The right to take names in a folder, until dropped.
///
/// A new file is locked by SQLite from its first transaction on, and until then nothing tells it from one that was left by a
/// command that was killed. So whoever replaces a file must not come in between. The folder is locked and not the file: on network
/// file systems a lock of this kind on the file would be in the way of SQLite's own, and closing the file would end those.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Locked. `None` where folders cannot be locked: then nobody is kept out.
    _folder: Option<File>,
}

impl Turn {
    /// Waits for it.
    ///
    /// # Errors
    /// [`StoreError::Path`] when others kept the folder for longer than `patience`.
    pub(crate) fn take(path: &Path, taking: Taking, patience: Duration) -> Result<Self, StoreError> {
        // What is wrong with a folder is told where the file is made.
        let Ok(folder) = File::open(folder_of(path)) else { return Ok(Turn { _folder: None }) };
        let until = Instant::now() + patience;
        loop {
            let tried = match taking {
                Taking::Free => folder.try_lock_shared(),
                Taking::Replacing => folder.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(Turn { _folder: Some(folder) }),
                Err(TryLockError::Error(_)) => return Ok(Turn { _folder: None }),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    let source = io::Error::other("another process keeps its folder locked");
                    return Err(StoreError::Path { path: path.to_owned(), action: "created", source });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(AGAIN),
            }
        }
    }
}

/// Where the name stands.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
