//! The test programs, as they lie in the tree.

use std::path::{Path, PathBuf};

/// A test program's source.
#[derive(Clone, Debug)]
pub struct Program {
    /// The file's name without its end.
    pub name: String,
    /// The source.
    pub source: PathBuf,
    /// The kernels whose results go wrong when a replay puts nothing back.
    pub wrong_without_restore: Vec<String>,
    /// The kernels whose output depends on the order in which waves run, so that passes may differ.
    pub may_diverge: Vec<String>,
    own_suite: bool,
}

/// Every program under `tests/programs`, by name, but for those that say `// a suite of its own`: they are no single process, or have
/// to be told what to do.
///
/// # Panics
/// When a program does not say which kernels need the restore.
pub fn programs() -> Vec<Program> {
    all().into_iter().filter(|program| !program.own_suite).collect()
}

fn all() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut programs: Vec<Program> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} could not be read: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hip"))
        .map(read)
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs
}

/// The program with this name.
///
/// # Panics
/// When there is none.
pub fn program(name: &str) -> Program {
    let found = all().into_iter().find(|program| program.name == name);
    found.unwrap_or_else(|| panic!("there is no test program {name}"))
}

/// A source under `tests/leaving`, which is a part of a program.
pub fn part(name: &str) -> Program {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("leaving").join(format!("{name}.hip"));
    let name = format!("leaving-{name}");
    Program { name, source, wrong_without_restore: Vec::new(), may_diverge: Vec::new(), own_suite: true }
}

fn read(source: PathBuf) -> Program {
    let text = std::fs::read_to_string(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let kernels = |prefix| {
        let line = text.lines().find_map(|line| line.strip_prefix(prefix))?;
        Some(line.split_whitespace().map(str::to_owned).collect())
    };
    let wrong_without_restore = kernels("// without restore:")
        .unwrap_or_else(|| panic!("{} lacks its line `// without restore:`", source.display()));
    Program {
        name: source.file_stem().expect("a source has a name").to_string_lossy().into_owned(),
        wrong_without_restore,
        own_suite: text.lines().any(|line| line.starts_with("// a suite of its own")),
        may_diverge: kernels("// may diverge:").unwrap_or_default(),
        source,
    }
}
