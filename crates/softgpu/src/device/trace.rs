//! The packet trace: one JSON line a packet.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::ConfigError;

/// Opens a file of lines, emptied.
pub(super) fn open(path: &Path) -> Result<File, ConfigError> {
    File::create(path).map_err(|source| ConfigError::File { path: path.to_owned(), source })
}

/// Where packets are told of.
#[derive(Debug)]
pub struct Trace {
    file: Option<Mutex<File>>,
}

impl Trace {
    /// Opens the file, if there is one.
    ///
    /// # Errors
    /// [`ConfigError::File`].
    pub fn new(path: Option<&Path>) -> Result<Self, ConfigError> {
        Ok(Self { file: path.map(open).transpose()?.map(Mutex::new) })
    }

    /// Tells of one packet: its queue, its kind, its kernel object (0 for none) and how long it took.
    pub fn packet(&self, queue: u64, kind: &str, kernel_object: u64, ns: u64) {
        let Some(file) = &self.file else { return };
        let line = format!("{{\"queue\":{queue},\"kind\":\"{kind}\",\"kernel_object\":{kernel_object},\"ns\":{ns}}}\n");
        // A full disk must not stop the program that is traced.
        let _ = file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
