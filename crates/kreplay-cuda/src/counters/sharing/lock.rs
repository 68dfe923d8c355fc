//! One window at a time on a GPU, across processes: the hardware's counters exist once.

use super::patience::Patience;
use crate::interceptor::OwnFile;
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The lock file of a GPU. It stays open, and is locked for the length of a window.
#[derive(Debug)]
pub(crate) struct GpuLock {
    file: OwnFile,
    path: PathBuf,
    patience: Patience,
}

/// The lock is another process's, or the file cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// The file cannot be opened.
    #[error("the lock file {} cannot be opened: {why}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// Somebody else holds it.
    #[error("another process has been counting on this GPU for {} s; it holds {}", waited.as_secs(), path.display())]
    Held {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
}

impl GpuLock {
    /// The lock of the GPU with this number.
    ///
    /// # Errors
    /// [`LockError::Open`].
    pub(crate) fn new(uuid: [u8; 16]) -> Result<Self, LockError> {
        Self::at(path(uuid, "lock"))
    }

    fn at(path: PathBuf) -> Result<Self, LockError> {
        match open(&path) {
            Ok(file) => Ok(Self { file: OwnFile::new(file), path, patience: Patience::default() }),
            Err(why) => Err(LockError::Open { path, why }),
        }
    }

    /// Takes it, waiting at most until `deadline`. Whoever holds it for so long may do so for ever (a program that waits within
    /// a window), so nobody waits again before it was free.
    ///
    /// # Errors
    /// [`LockError::Held`].
    pub(crate) fn acquire(&self, deadline: Instant) -> Result<Held<'_>, LockError> {
        // SAFETY: the file is open.
        let lock = || unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
        let (locked, waited) = self.patience.wait(deadline, Duration::from_micros(200), lock, |locked| !locked);
        if locked { Ok(Held(self)) } else { Err(LockError::Held { path: self.path.clone(), waited }) }
    }

    /// Gives it back when the guard was forgotten on purpose.
    pub(crate) fn release(&self) {
        // SAFETY: the file is open. Unlocking what is not locked does nothing.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Whether a window is open on the GPU with this number, as far as that can be told.
pub(crate) fn is_counted_on(uuid: [u8; 16]) -> bool {
    GpuLock::new(uuid).is_ok_and(|lock| lock.acquire(Instant::now()).is_err())
}

/// Where the file that tells something of the GPU with this number is: the same for every process, whatever `TMPDIR` says. Jobs of
/// a cluster have folders of their own for temporary files, and share GPUs.
pub(in crate::counters) fn path(uuid: [u8; 16], what: &str) -> PathBuf {
    let common = Path::new("/tmp");
    let folder = if common.is_dir() { common.to_owned() } else { std::env::temp_dir() };
    let name: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("kreplay-gpu-{name}.{what}"))
}

/// Opens a file to lock, and makes it if need be. One that is there is only read: in the folder for temporary files nobody
/// may open another user's file for creation, whatever its permissions (fs.protected_regular), and a lock needs no more.
///
/// # Errors
/// The system's.
pub(in crate::counters) fn open(path: &Path) -> std::io::Result<File> {
    File::open(path).or_else(|why| match why.kind() {
        ErrorKind::NotFound => create(path),
        _ => Err(why),
    })
}

/// Makes the file, for every user to read; one that another process has made meanwhile will do.
fn create(path: &Path) -> std::io::Result<File> {
    match File::options().read(true).write(true).create_new(true).open(path) {
        Ok(file) => {
            // The mask of the process may have taken the others' right away.
            file.set_permissions(Permissions::from_mode(0o644))?;
            Ok(file)
        }
        Err(why) if why.kind() == ErrorKind::AlreadyExists => File::open(path),
        Err(why) => Err(why),
    }
}

/// The lock is held.
#[derive(Debug)]
pub(crate) struct Held<'a>(&'a GpuLock);

impl Held<'_> {
    /// Holds it until [`GpuLock::release`].
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interceptor::forked_testing::{self as testing, tell_children_in_tests};
    use std::io::{Read, Write};

    /// Another user's lock is there and may only be read.
    #[test]
    fn a_file_that_may_only_be_read_is_enough() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.lock");
        let one = GpuLock::at(path.clone()).expect("made");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "others may read it");
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("it is ours");
        let two = GpuLock::at(path).expect("reading is enough");
        let _held = one.acquire(Instant::now()).expect("nobody holds it");
        assert!(two.acquire(Instant::now()).is_err());
    }

    /// What a killed process held is free, though a child that it forked lives on.
    #[test]
    fn a_forked_child_does_not_keep_the_lock() {
        assert!(tell_children_in_tests());
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.lock");
        let one = GpuLock::at(path.clone()).expect("open");
        one.acquire(Instant::now()).expect("nobody holds it").keep();
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let mut word = [0];
        let child = testing::begin(|| {
            (&theirs).write_all(b"!").expect("the parent listens");
            (&theirs).read_exact(&mut word).expect("the parent says when");
        });
        (&ours).read_exact(&mut word).expect("the child runs");
        // As the system does for a process that dies: the file is closed, not unlocked.
        drop(one);
        let two = GpuLock::at(path).expect("open");
        let free = two.acquire(Instant::now()).is_ok();
        (&ours).write_all(b"!").expect("the child listens");
        assert_eq!(testing::ended(child).code(), Some(0));
        assert!(free, "the child holds its parent's lock");
    }

    #[test]
    fn two_holders_exclude_each_other_and_the_error_names_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.lock");
        let (one, two) = (GpuLock::at(path.clone()).expect("open"), GpuLock::at(path.clone()).expect("open"));
        let held = one.acquire(Instant::now()).expect("nobody holds it");
        let error = two.acquire(Instant::now()).expect_err("it is held").to_string();
        assert!(error.contains(&*path.to_string_lossy()), "{error}");
        drop(held);
        two.acquire(Instant::now()).expect("it was given back").keep();
        assert!(one.acquire(Instant::now()).is_err());
        two.release();
        assert!(one.acquire(Instant::now()).is_ok());
    }

    #[test]
    fn nobody_waits_twice_for_a_lock_that_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gpu.lock");
        let (one, two) = (GpuLock::at(path.clone()).expect("open"), GpuLock::at(path).expect("open"));
        let held = one.acquire(Instant::now()).expect("nobody holds it");
        assert!(two.acquire(Instant::now() + Duration::from_millis(20)).is_err());
        // A wait as long as this would never end.
        assert!(two.acquire(Instant::now() + Duration::from_hours(1)).is_err());
        drop(held);
        drop(two.acquire(Instant::now()).expect("it is free"));
        let held = one.acquire(Instant::now()).expect("nobody holds it");
        let (started, waits) = (Instant::now(), Duration::from_millis(20));
        assert!(two.acquire(started + waits).is_err() && started.elapsed() >= waits, "it was free meanwhile");
        drop(held);
    }
}
