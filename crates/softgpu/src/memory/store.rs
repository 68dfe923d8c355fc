//! The file behind device memory, so that another process can map a part of it.
//!
//! One sparse file without a name holds the device memory of the process; each allocation is a range of it that no other one ever
//! uses again. What is freed is cut out of the file, unless another process may still have it mapped.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::topology::PAGE;

/// Bytes of the file: address space only, far beyond what a process allocates in its life; a page's number fits 32 bits.
const FILE_BYTES: u64 = 1 << 44;

/// The file.
#[derive(Debug)]
pub(super) struct Store {
    file: OwnedFd,
    next: AtomicU64,
}

impl Store {
    /// Makes the file.
    ///
    /// # Errors
    /// The host's, for example where files of this size are not allowed.
    pub(super) fn new() -> io::Result<Self> {
        // A limit on the size of files would end the process with a signal instead of an error.
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a structure that the call fills.
        let limited = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } != 0;
        if limited || limit.rlim_cur < FILE_BYTES {
            return Err(io::Error::other("the size of files is limited (ulimit -f)"));
        }
        // SAFETY: a terminated name; the call makes a new descriptor.
        let raw = unsafe { libc::memfd_create(c"softgpu-vram".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and belongs to nobody else.
        let file = unsafe { OwnedFd::from_raw_fd(raw) };
        // SAFETY: an open file of ours.
        if unsafe { libc::ftruncate(file.as_raw_fd(), FILE_BYTES.cast_signed()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file, next: AtomicU64::new(0) })
    }

    /// Takes a range that was never used.
    ///
    /// # Errors
    /// When the file's end is reached.
    pub(super) fn take(&self, bytes: u64) -> io::Result<u64> {
        let next = |at: u64| at.checked_add(bytes)?.checked_next_multiple_of(PAGE).filter(|&end| end <= FILE_BYTES);
        let taken = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        taken.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
    }

    /// Gives the pages of a range back to the host.
    pub(super) fn cut(&self, offset: u64, bytes: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: an open file of ours. Where the host cannot cut, the pages stay until the process ends.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset.cast_signed(), bytes.cast_signed()) };
    }

    /// The descriptor.
    pub(super) fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }
}
