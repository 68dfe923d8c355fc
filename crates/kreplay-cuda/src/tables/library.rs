//! Opening a shared library and taking symbols out of it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};

/// A library or a symbol in it is missing.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LoadError {
    /// No candidate could be opened.
    #[error("the library {library} cannot be loaded. {remedy} Tried: {}", tried_text(tried))]
    Library {
        /// Its usual file name.
        library: &'static str,
        /// What the user can do.
        remedy: &'static str,
        /// Every path that was tried, and what the loader said.
        tried: Vec<(PathBuf, String)>,
    },
    /// A library is there and lacks a function that cannot be done without.
    #[error("the library {library} at {} has no function {symbol}: it is too old. {remedy}", path.display())]
    Symbol {
        /// The library's usual file name.
        library: &'static str,
        /// Where it was found.
        path: PathBuf,
        /// The missing function.
        symbol: &'static str,
        /// What the user can do.
        remedy: &'static str,
    },
}

fn tried_text(tried: &[(PathBuf, String)]) -> String {
    if tried.is_empty() {
        return "nothing; no candidate exists.".to_owned();
    }
    tried.iter().map(|(path, why)| format!("{} ({why})", path.display())).collect::<Vec<_>>().join("; ")
}

/// How a library is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Only when the process has it already.
    Loaded,
    /// Its symbols stay its own.
    Local,
    /// Its symbols are found by libraries loaded later.
    Global,
}

/// An open library. It stays open for the rest of the process: code of it may be on any thread's stack at any time.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    handle: *mut c_void,
    path: PathBuf,
}

// SAFETY: the handle is only passed to `dlsym`, which may be called from any thread, and is never closed.
unsafe impl Send for Library {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Library {}

impl Library {
    /// Opens the library at `path`, or by its bare name.
    ///
    /// # Errors
    /// What the loader said.
    pub(crate) fn open(path: &Path, opening: Opening) -> Result<Self, String> {
        let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| "the path holds a NUL".to_owned())?;
        let flags = libc::RTLD_NOW
            | match opening {
                Opening::Loaded => libc::RTLD_NOLOAD,
                Opening::Local => libc::RTLD_LOCAL,
                Opening::Global => libc::RTLD_GLOBAL,
            };
        // SAFETY: `text` is a C string. The constructors of the vendor's libraries are run as any program runs them.
        let handle = unsafe { libc::dlopen(text.as_ptr(), flags) };
        if handle.is_null() {
            return Err(loader_message().unwrap_or_else(|| "it is not loaded".to_owned()));
        }
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Where it was found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The address of a function, or null.
    pub(crate) fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is open and the name a C string.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}

fn loader_message() -> Option<String> {
    // SAFETY: `dlerror` returns null or a C string that lives until the thread's next call of the loader.
    let message: *const c_char = unsafe { libc::dlerror() };
    if message.is_null() {
        return None;
    }
    // SAFETY: checked above.
    Some(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_says_what_the_loader_said() {
        let error = Library::open(Path::new("/nowhere/libabsent.so.9"), Opening::Local).expect_err("it is absent");
        assert!(error.contains("libabsent.so.9"), "{error}");
    }

    #[test]
    fn symbols_are_found_and_missing_ones_are_null() {
        let library = Library::open(Path::new("libc.so.6"), Opening::Loaded).expect("the C library is loaded");
        assert!(!library.symbol(c"memcpy").is_null());
        assert!(library.symbol(c"cuInit_of_no_library").is_null());
    }

    #[test]
    fn errors_name_library_path_and_symbol() {
        let error = LoadError::Symbol {
            library: "libcupti.so",
            path: "/opt/lib/libcupti.so.12".into(),
            symbol: "cuptiRangeProfilerEnable",
            remedy: "Install another.",
        };
        let text = error.to_string();
        for part in ["libcupti.so", "/opt/lib/libcupti.so.12", "cuptiRangeProfilerEnable", "Install another."] {
            assert!(text.contains(part), "{text}");
        }
        let error = LoadError::Library {
            library: "libcupti.so",
            remedy: "Install it.",
            tried: vec![("/a/libcupti.so.13".into(), "no such file".into())],
        };
        assert!(error.to_string().contains("/a/libcupti.so.13 (no such file)"), "{error}");
    }
}
