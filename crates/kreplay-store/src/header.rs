//! The first 100 bytes of a file, read without SQLite, so that a foreign file is never opened as a database.
//!
//! Offsets are those of the SQLite file format, section 1.3: the magic at 0, `user_version` at 60, `application_id`
//! at 68, the page size at 16 and the number of pages at 28, all big endian.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::{APPLICATION_ID, StoreError, StoreVersion};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What the header says.
struct Header {
    version: StoreVersion,
    /// Bytes that the file should have.
    bytes: u64,
}

/// Whether the file at `path` is a kreplay file of any version. No where that cannot be told.
pub fn is_kreplay_file(path: &Path) -> bool {
    read(path).is_ok()
}

/// Whether the file at `path` is a kreplay file of a version that this build reads.
pub(crate) fn check(path: &Path) -> Result<(), StoreError> {
    let version = read(path)?.version;
    if version.is_readable() { Ok(()) } else { Err(StoreError::OtherVersion { path: path.to_owned(), found: version }) }
}

/// Whether the file has the length that its header says. Only for a file without a log: SQLite itself reads missing
/// bytes as zeros.
pub(crate) fn check_length(path: &Path) -> Result<(), StoreError> {
    let expected = read(path)?.bytes;
    let found = std::fs::metadata(path)
        .map_err(|source| StoreError::Path { path: path.to_owned(), action: "read", source })?
        .len();
    if found == expected {
        return Ok(());
    }
    let mut why = format!("it has {found} bytes and should have {expected}");
    if found < expected {
        why.push_str("; if it was copied from where a run did not end in order, its log, FILE-wal, belongs to it");
    }
    Err(StoreError::Damaged { path: path.to_owned(), why })
}

fn read(path: &Path) -> Result<Header, StoreError> {
    let unreadable = |source| StoreError::Path { path: path.to_owned(), action: "read", source };
    let foreign = |why: &str| StoreError::Foreign { path: path.to_owned(), why: why.to_owned() };
    // Before it is opened: a named pipe would be waited for.
    let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
    if !kind.is_file() {
        return Err(foreign(if kind.is_dir() { "it is a directory" } else { "it is not a regular file" }));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut header = [0; 100];
    match file.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(foreign("it is too short")),
        Err(error) => return Err(unreadable(error)),
    }
    if !header.starts_with(MAGIC) {
        return Err(foreign("it is not an SQLite database"));
    }
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if word(68) != APPLICATION_ID {
        return Err(foreign("it is a database of another program"));
    }
    // A page of 65536 bytes is written as 1.
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        page => page,
    };
    Ok(Header { version: StoreVersion(word(60)), bytes: page * u64::from(word(28)) })
}
