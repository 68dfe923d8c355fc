//! Where libcupti lies, and its helpers.
//!
//! A process must never hold two copies: both would hook the same driver. So a copy that is loaded already is taken
//! first. When it is first asked about counters libcupti opens `libnvperf_host.so` and `libnvperf_target.so`, by bare name and
//! without a search path of its own; they are found when they were opened before that, by their full path.

use super::library::{Library, LoadError, Opening};
use std::path::{Path, PathBuf};

const LIBRARY: &str = "libcupti.so";
const HELPERS: [&str; 2] = ["libnvperf_host.so", "libnvperf_target.so"];
const MAJORS: [u32; 2] = [13, 12];

/// libcupti, loaded.
#[derive(Debug)]
pub(crate) struct FoundCupti {
    pub(crate) library: Library,
}

/// What the search depends on, so that a test can choose it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// `KREPLAY_CUPTI`: the library, or the folder that holds it.
    pub(crate) chosen: Option<PathBuf>,
    /// `CUDA_HOME` or `CUDA_PATH`.
    pub(crate) toolkit: Option<PathBuf>,
    /// Folders of Python packages.
    pub(crate) site_packages: Vec<PathBuf>,
    /// The folder that holds `cuda*` toolkits, usually `/usr/local`.
    pub(crate) toolkits: Option<PathBuf>,
    /// Files mapped into this process.
    pub(crate) mapped: Vec<PathBuf>,
    /// Whether bare names may be looked up by the loader.
    pub(crate) bare_names: bool,
}

impl Environment {
    /// This process's.
    pub(crate) fn of_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            chosen: variable("KREPLAY_CUPTI"),
            toolkit: variable("CUDA_HOME").or_else(|| variable("CUDA_PATH")),
            site_packages: site_packages(),
            toolkits: Some("/usr/local".into()),
            mapped: mapped_files(),
            bare_names: true,
        }
    }

    /// The candidates in order: every one exists when it was listed, but for bare names.
    pub(crate) fn candidates(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let is_cupti =
            |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"libcupti.so"));
        found.extend(self.mapped.iter().filter(|path| is_cupti(path)).cloned());
        if let Some(chosen) = &self.chosen {
            if chosen.is_dir() {
                found.extend(in_folder(chosen));
            } else {
                // Listed even when it is absent, so that the error names what the user chose.
                found.push(chosen.clone());
            }
        }
        for packages in &self.site_packages {
            for below in ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"] {
                found.extend(in_folder(&packages.join(below)));
            }
        }
        let mut toolkits: Vec<PathBuf> = self.toolkit.iter().cloned().collect();
        toolkits.extend(self.toolkits.iter().flat_map(|folder| installed_toolkits(folder)));
        for toolkit in toolkits {
            for below in ["extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib"] {
                found.extend(in_folder(&toolkit.join(below)));
            }
        }
        if self.bare_names {
            found.extend(MAJORS.map(|major| PathBuf::from(format!("{LIBRARY}.{major}"))));
        }
        let mut seen = std::collections::HashSet::new();
        found.retain(|path| seen.insert(path.clone()));
        found
    }
}

/// Loads libcupti.
///
/// # Errors
/// [`LoadError::Library`] with every path that was tried.
pub(crate) fn find_cupti(environment: &Environment) -> Result<FoundCupti, LoadError> {
    let mut tried = Vec::new();
    for candidate in environment.candidates() {
        match Library::open(&candidate, Opening::Local) {
            Ok(library) => return Ok(FoundCupti { library }),
            Err(why) => tried.push((candidate, why)),
        }
    }
    Err(LoadError::Library {
        library: LIBRARY,
        remedy: "Install CUPTI (part of the CUDA toolkit, or `pip install nvidia-cuda-cupti`), or set KREPLAY_CUPTI to \
                 the library or its folder.",
        tried,
    })
}

/// Loads the helpers that lie beside `cupti`. Their constructors write 100 MB each, which takes 140 ms. One that is missing
/// shows later, as status 15 of the first call.
pub(super) fn load_helpers(cupti: &Path) {
    let Some(folder) = cupti.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return };
    for helper in HELPERS {
        let path = folder.join(helper);
        if path.exists() {
            // A helper that cannot be opened shows as status 15 of CUPTI's first call, which says so.
            let _ = Library::open(&path, Opening::Global);
        }
    }
}

fn in_folder(folder: &Path) -> impl Iterator<Item = PathBuf> {
    MAJORS
        .map(|major| folder.join(format!("{LIBRARY}.{major}")))
        .into_iter()
        .chain([folder.join(LIBRARY)])
        .filter(|path| path.exists())
}

/// `cuda` first, then the versioned ones, newest first.
fn installed_toolkits(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"cuda")))
        .collect();
    found.sort_by_key(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let version = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok()).unwrap_or(u32::MAX);
        let mut parts = name.trim_start_matches("cuda").trim_start_matches('-').split('.');
        std::cmp::Reverse((version(parts.next()), version(parts.next())))
    });
    found
}

/// Folders of Python packages: of the running virtual environment and interpreter, and of `PYTHONPATH`.
fn site_packages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths).filter(|path| path.is_dir()).collect();
    let mut prefixes: Vec<PathBuf> = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    // `argv[0]` of an interpreter in a virtual environment is a link in its `bin` folder.
    let command = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    if let Some(first) = command.split(|byte| *byte == 0).next()
        && let Ok(first) = std::str::from_utf8(first)
    {
        let first = Path::new(first);
        let absolute = if first.components().count() > 1 { Some(first.to_owned()) } else { in_path(first) };
        prefixes.extend(absolute.and_then(|path| Some(path.parent()?.parent()?.to_owned())));
    }
    prefixes.extend(std::env::current_exe().ok().and_then(|path| Some(path.parent()?.parent()?.to_owned())));
    for prefix in prefixes {
        let versions = std::fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
        for version in versions.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python3")) {
            found.extend(["site-packages", "dist-packages"].map(|name| version.path().join(name)));
        }
    }
    found
}

fn in_path(program: &Path) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn mapped_files() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut files: Vec<PathBuf> =
        maps.lines().filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..]))).collect();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
        std::fs::write(path, b"not a library").expect("write");
    }

    #[test]
    fn a_loaded_copy_comes_first_then_the_choice_then_packages_then_toolkits() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |below: &str| root.path().join(below);
        touch(&at("site/nvidia/cu13/lib/libcupti.so.13"));
        touch(&at("usr/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13"));
        touch(&at("usr/cuda-12.9/extras/CUPTI/lib64/libcupti.so.12"));
        touch(&at("mine/libcupti.so.12"));
        let environment = Environment {
            chosen: Some(at("mine")),
            toolkit: None,
            site_packages: vec![at("site")],
            toolkits: Some(at("usr")),
            mapped: vec!["/lib/libc.so.6".into(), "/torch/libcupti.so.13".into()],
            bare_names: true,
        };
        let expected = [
            PathBuf::from("/torch/libcupti.so.13"),
            at("mine/libcupti.so.12"),
            at("site/nvidia/cu13/lib/libcupti.so.13"),
            at("usr/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13"),
            at("usr/cuda-12.9/extras/CUPTI/lib64/libcupti.so.12"),
            "libcupti.so.13".into(),
            "libcupti.so.12".into(),
        ];
        assert_eq!(environment.candidates(), expected);
    }

    #[test]
    fn the_error_names_every_path_and_the_remedy() {
        let root = tempfile::tempdir().expect("a folder");
        let broken = root.path().join("libcupti.so.13");
        touch(&broken);
        let environment = Environment { chosen: Some(broken.clone()), ..Environment::default() };
        let text = find_cupti(&environment).expect_err("it is no library").to_string();
        assert!(text.contains(&*broken.to_string_lossy()) && text.contains("KREPLAY_CUPTI"), "{text}");
    }
}
