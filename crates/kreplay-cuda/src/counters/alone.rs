//! Whether this process is the only one that counts on a GPU: sampling counts the whole device.
//!
//! Each process that counts on a GPU holds a lock file shared; the one that samples holds it alone, until it ends.

use super::Guarded;
use super::lock::open;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The lock files of this process, by GPU: a lock belongs to the open file, so there is one for all contexts.
static FILES: Mutex<Option<HashMap<[u8; 16], Presence>>> = Mutex::new(None);

/// A process on a GPU.
struct Presence {
    file: File,
    alone: bool,
}

impl Presence {
    /// Holds the file shared.
    fn enter(path: &Path) -> std::io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(lock(&file, libc::LOCK_SH).then_some(Self { file, alone: false }))
    }

    /// Holds it alone; `false`: another process holds it too.
    fn alone(&mut self) -> bool {
        if !self.alone {
            self.alone = lock(&self.file, libc::LOCK_EX);
            // A lock that could not be turned into the other kind may be lost.
            if !self.alone {
                lock(&self.file, libc::LOCK_SH);
            }
        }
        self.alone
    }
}

fn lock(file: &File, kind: libc::c_int) -> bool {
    // SAFETY: the file is open.
    unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) == 0 }
}

fn path(uuid: [u8; 16]) -> PathBuf {
    let name: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    std::env::temp_dir().join(format!("kreplay-gpu-{name}.processes"))
}

/// This process counts on a GPU. `false`: another one samples it, and nothing can be counted.
///
/// # Errors
/// When the lock file cannot be opened.
pub(super) fn enter(uuid: [u8; 16]) -> std::io::Result<bool> {
    let mut files = FILES.guarded();
    let files = files.get_or_insert_default();
    if let Entry::Vacant(place) = files.entry(uuid) {
        let Some(presence) = Presence::enter(&path(uuid))? else { return Ok(false) };
        place.insert(presence);
    }
    Ok(true)
}

/// Whether no other process counts on the GPU; from then on none can.
pub(super) fn alone(uuid: [u8; 16]) -> bool {
    let mut files = FILES.guarded();
    files.get_or_insert_default().get_mut(&uuid).is_some_and(Presence::alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_samples_only_while_nobody_else_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.processes");
        let enter = || Presence::enter(&path).expect("the file can be opened");
        let (mut one, mut two) = (enter().expect("nobody is there"), enter().expect("both may count by ranges"));
        assert!(!one.alone(), "the other one counts");
        assert!(!two.alone(), "and is still there after the refusal");
        drop(two);
        assert!(one.alone());
        assert!(enter().is_none(), "nobody counts beside one that samples");
        drop(one);
        assert!(enter().is_some());
    }
}
