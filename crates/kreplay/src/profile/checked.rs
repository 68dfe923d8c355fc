//! Requests that were found good before.
//!
//! A check begins the driver and the planner's libraries, most of a second in which nothing else happens. What it finds depends on
//! the request, on the machine's devices and libraries, and on this command: where all of that is as it was, it finds the same.
//! What was refused is checked again, so that it is told again.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Requests that are remembered; when there are twice as many the older half is forgotten.
const KEPT: usize = 100;

/// A request, and where the good ones are noted.
pub(super) struct Checked {
    notes: PathBuf,
    line: String,
}

impl Checked {
    /// For this user, if a place for notes is known.
    pub(super) fn new(request: impl Hash, machine: &str) -> Option<Self> {
        let notes = place(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))?;
        Some(Self::at(notes, (request, machine, command()?)))
    }

    fn at(notes: PathBuf, all: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        Self { notes, line: format!("{:016x}", hasher.finish()) }
    }

    /// Whether it was found good before.
    pub(super) fn before(&self) -> bool {
        fs::read_to_string(&self.notes).is_ok_and(|noted| noted.lines().any(|line| line == self.line))
    }

    /// It was found good. Where that cannot be noted it will be checked again.
    pub(super) fn note(&self) {
        let noted = || -> std::io::Result<()> {
            self.notes.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut notes = OpenOptions::new().append(true).create(true).open(&self.notes)?;
            // In one piece: other runs write here too.
            notes.write_all(format!("{}\n", self.line).as_bytes())?;
            forget(&self.notes)
        };
        let _ = noted();
    }
}

/// Leaves the newest lines where there are too many.
fn forget(path: &Path) -> std::io::Result<()> {
    let text = fs::read_to_string(path)?;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < 2 * KEPT {
        return Ok(());
    }
    let kept = format!("{}\n", lines[lines.len() - KEPT..].join("\n"));
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    fs::write(&beside, kept)?;
    fs::rename(&beside, path)
}

/// The user's folder for what can be made again (<https://specifications.freedesktop.org/basedir-spec/latest/>).
fn place(cache: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute(cache).or_else(|| absolute(home).map(|home| home.join(".cache")))?;
    Some(cache.join("kreplay/checked"))
}

/// Which command this is: another build may plan otherwise.
fn command() -> Option<impl Hash> {
    let file = fs::metadata(std::env::current_exe().ok()?).ok()?;
    Some((file.len(), file.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_noted_was_found_good() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |all: &str| Checked::at(folder.path().join("deep/er/checked"), all.to_owned());
        assert!(!at("a").before());
        at("a").note();
        assert!(at("a").before() && !at("b").before());
        at("b").note();
        assert!(at("a").before() && at("b").before());
    }

    #[test]
    fn old_notes_are_forgotten_and_new_ones_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("checked");
        for at in 0..2 * KEPT {
            Checked::at(notes.clone(), at).note();
        }
        let known = |at: usize| Checked::at(notes.clone(), at).before();
        assert!(!known(0) && !known(KEPT - 1) && known(KEPT) && known(2 * KEPT - 1));
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn damaged_notes_are_no_notes() {
        let folder = tempfile::tempdir().expect("a folder");
        let notes = folder.path().join("checked");
        fs::write(&notes, [0xff, b'\n', 0]).expect("written");
        assert!(!Checked::at(notes.clone(), 1).before());
        Checked::at(folder.path().join("checked/below"), 1).note();
        assert!(!Checked::at(notes, 1).before(), "a place that cannot be written costs only a check");
    }

    #[test]
    fn notes_lie_in_the_cache_of_the_user() {
        let of = |cache: &str, home: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| OsString::from(text));
            place(some(cache), some(home))
        };
        assert_eq!(of("/c", "/h"), Some("/c/kreplay/checked".into()));
        assert_eq!(of("", "/h"), Some("/h/.cache/kreplay/checked".into()));
        assert_eq!(of("relative", "/h"), Some("/h/.cache/kreplay/checked".into()), "as the specification says");
        assert_eq!(of("", ""), None);
    }
}
