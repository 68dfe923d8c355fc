//! Shared libraries as the dynamic loader would find them for a program that is started from here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders that the loader looks in.
#[derive(Debug)]
pub(crate) struct LoaderPath {
    folders: Vec<PathBuf>,
}

/// How deep `include` lines of the loader's configuration may go.
const DEPTH: usize = 4;

impl LoaderPath {
    /// `LD_LIBRARY_PATH`, then the loader's configuration, then its own folders.
    pub(crate) fn of_environment() -> Self {
        let mut folders: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
            .map(|path| std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty()).collect())
            .unwrap_or_default();
        configured(Path::new("/etc/ld.so.conf"), DEPTH, &mut folders);
        for own in ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"] {
            folders.push(own.into());
        }
        let mut seen = BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        Self { folders }
    }

    /// Adds the `lib` folder of every folder in `parent` whose name begins with `start`: where vendors put what they
    /// install beside the system.
    pub(crate) fn add_matching(&mut self, parent: &str, start: &str) {
        let Ok(entries) = std::fs::read_dir(parent) else { return };
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(start)))
            .map(|entry| entry.path().join("lib"))
            .collect();
        found.sort();
        self.folders.extend(found);
    }

    /// The first file of this name.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.exists())
    }
}

fn configured(file: &Path, depth: usize, folders: &mut Vec<PathBuf>) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.strip_prefix("include ") {
            Some(pattern) if depth > 0 => {
                // The loader's own configuration uses no other pattern than a star in the file's name.
                let pattern = Path::new(pattern.trim());
                for included in matching(pattern) {
                    configured(&included, depth - 1, folders);
                }
            }
            Some(_) => {}
            None if line.starts_with('/') => folders.push(line.into()),
            None => {}
        }
    }
}

fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let Some((before, after)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| name.starts_with(before) && name.ends_with(after))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The version of a shared library, from the name of the file that its links lead to: `1.5.0` for
/// `libhsa-runtime64.so.1.5.0`.
pub(crate) fn version_of(library: &Path) -> Option<String> {
    let file = std::fs::canonicalize(library).ok()?;
    let (_, version) = file.file_name()?.to_str()?.split_once(".so.")?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_found_where_the_loader_finds_it() {
        assert!(LoaderPath::of_environment().find("libc.so.6").is_some());
    }

    #[test]
    fn configuration_is_followed_through_includes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/b.conf"), "/two # trailing words\n").unwrap();
        std::fs::write(at("d/a.conf"), "/one\n").unwrap();
        std::fs::write(at("d/c.other"), "/never\n").unwrap();
        std::fs::write(at("main"), format!("include {}/d/*.conf\n/three\nrelative\n", folder.path().display()))
            .unwrap();
        let mut folders = Vec::new();
        configured(&at("main"), DEPTH, &mut folders);
        assert_eq!(folders, [Path::new("/one"), Path::new("/two"), Path::new("/three")]);
    }

    #[test]
    fn a_version_is_that_of_the_real_file() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("libx.so.1.2.3");
        std::fs::write(&real, "").unwrap();
        let link = folder.path().join("libx.so.1");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(version_of(&link).as_deref(), Some("1.2.3"));
        assert_eq!(version_of(folder.path()), None);
    }
}
