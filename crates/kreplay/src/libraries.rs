//! Where kreplay's own libraries are.

use std::path::{Path, PathBuf};

use crate::error::ExpectedError;

/// The injected library.
pub(crate) const INJECTED: &str = "libkreplay.so";
/// The software GPU under the HSA runtime.
pub(crate) const THUNK: &str = "libhsakmt.so";
/// The software GPU's counters.
pub(crate) const AQLPROFILE: &str = "libhsa_amd_aqlprofile64.so";

/// Variable that names their folder.
pub(crate) const VARIABLE: &str = "KREPLAY_LIB_DIR";

/// Folders that are looked in, in order: the one that the variable names and no other, else beside the command, then
/// `../lib/kreplay`.
pub(crate) fn folders() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        return vec![PathBuf::from(folder)];
    }
    // The path without symbolic links: a link to the command in a `bin` folder leads to the installation.
    let Some(folder) =
        std::env::current_exe().and_then(std::fs::canonicalize).ok().and_then(|exe| exe.parent().map(Path::to_owned))
    else {
        return Vec::new();
    };
    let installed = folder.join("../lib/kreplay");
    vec![folder, installed]
}

/// The absolute path of one of them.
///
/// # Errors
/// [`ExpectedError::LibraryMissing`].
pub(crate) fn find(name: &str) -> Result<PathBuf, ExpectedError> {
    let looked = folders();
    looked
        .iter()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .and_then(|path| std::fs::canonicalize(path).ok())
        .ok_or(ExpectedError::LibraryMissing { name: name.to_owned(), looked })
}
