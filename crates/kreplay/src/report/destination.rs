//! The file that a report is written to.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use kreplay_store::is_kreplay_file;
use tempfile::NamedTempFile;

use crate::error::ExpectedError;

/// What SQLite keeps beside a database, by the ends of its names.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether a report of `profile` may be written to `path`: not over a profile, nor over what belongs to one.
///
/// # Errors
/// [`ExpectedError::Usage`].
pub(super) fn check(path: &Path, profile: &Path) -> Result<(), ExpectedError> {
    let taken = if same_file(path, profile) {
        "the profile itself"
    } else if is_kreplay_file(path) {
        "a profile, which a report does not replace"
    } else if is_part_of_a_profile(path) || BESIDE.iter().any(|end| same_file(path, &with_end(profile, end))) {
        "a part of a profile, which a report does not replace"
    } else {
        return Ok(());
    };
    Err(ExpectedError::Usage {
        what: format!("{} is {taken}", path.display()),
        hint: "write the report to another file".into(),
    })
}

/// Writes a file. A regular one is replaced once the new one is whole; anything else, such as a device, is written to.
///
/// # Errors
/// [`ExpectedError::Io`], or what `write` gave.
pub(super) fn write(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExpectedError>,
) -> Result<(), ExpectedError> {
    let failed = |source| ExpectedError::Io { what: path.display().to_string(), action: "written", source };
    let found = fs::metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let mut out = BufWriter::new(File::create(path).map_err(failed)?);
        write(&mut out)?;
        return out.flush().map_err(failed);
    }
    // A link stays, and what it leads to is replaced.
    let target = target(path);
    let mut beside = new_beside(&target, found.as_ref()).map_err(failed)?;
    let mut out = BufWriter::new(beside.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(failed)?;
    drop(out);
    beside.persist(&target).map(drop).map_err(|error| failed(error.error))
}

/// A new file in the same folder, with the permissions of the one that it replaces.
fn new_beside(path: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    // What may not be written may not be replaced either.
    if replaced.is_some() {
        File::options().write(true).open(path)?;
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".new-");
    // The umask takes away from these.
    let permissions = Permissions::from_mode(0o666);
    let new = tempfile::Builder::new().prefix(&prefix).permissions(permissions).tempfile_in(folder)?;
    if let Some(replaced) = replaced {
        new.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(new)
}

/// Where a path leads to, also where nothing is there yet.
fn target(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    match fs::read_link(path) {
        // Relative to the link's folder.
        Ok(link) => path.parent().map_or(link.clone(), |folder| folder.join(&link)),
        Err(_) => path.to_owned(),
    }
}

/// Whether it has the name of what SQLite keeps beside a profile that is there.
fn is_part_of_a_profile(path: &Path) -> bool {
    [path.to_owned(), target(path)].iter().any(|path| {
        let name = path.as_os_str().as_bytes();
        let profile = BESIDE.iter().find_map(|end| name.strip_suffix(end.as_bytes()));
        profile.is_some_and(|name| is_kreplay_file(Path::new(OsStr::from_bytes(name))))
    })
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether both names lead to one file, through links of either kind.
fn same_file(one: &Path, other: &Path) -> bool {
    let which = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((which(one), which(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn an_old_report_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let broken = write(&path, |out| {
            out.write_all(b"half").unwrap();
            Err(ExpectedError::Internal("as the test wants".into()))
        });
        assert!(broken.is_err());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), ("old", 1));
        write(&path, |out| {
            out.write_all(b"new").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), ("new", 1));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        for text in ["first", "second"] {
            write(&link, |out| {
                out.write_all(text.as_bytes()).unwrap();
                Ok(())
            })
            .unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(folder.path())), (text, 2));
        }
    }
}
