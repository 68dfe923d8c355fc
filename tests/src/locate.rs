//! Where cargo put what is tested.

use std::path::{Path, PathBuf};

/// The folder with the built command and libraries: `target/debug`, or whatever the tests were built into.
///
/// # Panics
/// When the test does not lie where cargo puts tests.
pub fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.parent().expect("a test lies in a folder");
    // Tests lie in `deps`, programs of this package beside it.
    if folder.ends_with("deps") {
        folder.parent().expect("deps lies in a folder").to_path_buf()
    } else {
        folder.to_path_buf()
    }
}

/// A program of the workspace.
///
/// # Panics
/// When it was not built: `cargo build --workspace` comes first.
pub fn binary(name: &str) -> PathBuf {
    built(&build_folder().join(name))
}

/// A shared library of the workspace, by its crate's library name.
///
/// # Panics
/// As [`binary`].
pub fn library(name: &str) -> PathBuf {
    built(&build_folder().join(format!("lib{name}.so")))
}

fn built(path: &Path) -> PathBuf {
    assert!(path.exists(), "{} is not there; run `cargo build --workspace` first", path.display());
    path.to_path_buf()
}
