//! `cargo xtask pack`: all that a machine with a GPU and without a Rust toolchain needs to run what CI cannot.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell;

/// What is packed of the tree itself.
const SOURCES: &[&str] = &["tests/cuda", "bench/peers"];

/// Builds the command, the injected library and the unit tests of the CUDA backend, and packs them with the programs of
/// `tests/cuda` and `bench/peers` into `archive`; `run.sh` in it runs them. Where there is an nvcc these programs are compiled
/// too (`NVCC_APPEND_FLAGS` takes its options, `-arch=sm_90` for instance); elsewhere they are on the other machine.
///
/// # Errors
/// When something does not build, or the archive cannot be written.
pub(crate) fn run(archive: &Path) -> Result<()> {
    shell::run(&mut shell::cargo(["build", "--release", "-p", "kreplay", "-p", "kreplay-inject"]))?;
    let built = ["test", "--no-run", "-p", "kreplay-cuda", "--lib", "--message-format=json-render-diagnostics"];
    let tests = executable(&shell::output(&mut shell::cargo(built))?)?;

    let pack = shell::target().join("pack/kreplay");
    if pack.exists() {
        std::fs::remove_dir_all(&pack).with_context(|| format!("{} could not be emptied", pack.display()))?;
    }
    std::fs::create_dir_all(&pack).with_context(|| format!("{} could not be made", pack.display()))?;
    let release = shell::target().join("release");
    for (from, to) in [
        (release.join("kreplay"), "kreplay"),
        (release.join("libkreplay.so"), "libkreplay.so"),
        (tests, "units"),
        (shell::root().join("xtask/src/pack.sh"), "run.sh"),
    ] {
        std::fs::copy(&from, pack.join(to)).with_context(|| format!("{} could not be packed", from.display()))?;
    }
    std::fs::write(pack.join("COMMIT"), commit()?)?;
    for folder in SOURCES {
        copy(&shell::root(), Path::new(folder), &pack)?;
    }
    if shell::has("nvcc", "--version") {
        for (script, folder) in [("tests/cuda/run.py", "programs"), ("bench/peers/measure.py", "peers")] {
            let script = pack.join(script);
            let mut build = shell::command("python3", [script.as_os_str(), "build".as_ref()]);
            shell::run(build.env("BUILD", pack.join(folder)).env("PYTHONDONTWRITEBYTECODE", "1"))?;
        }
    }
    let (parent, name) = (pack.parent().context("a pack lies in a folder")?, pack.file_name().unwrap_or_default());
    let archive = std::path::absolute(archive)?;
    let mut tar = shell::command("tar", ["--owner=0", "--group=0", "-czf"]);
    shell::run(tar.arg(&archive).arg("-C").arg(parent).arg(name))?;
    println!("{}", archive.display());
    Ok(())
}

/// What is checked out, as results name it: `+work` where the tree holds more than its commit.
fn commit() -> Result<String> {
    let commit = shell::output(&mut shell::command("git", ["rev-parse", "--short=7", "HEAD"]))?;
    let changed = !shell::output(&mut shell::command("git", ["status", "--porcelain"]))?.trim().is_empty();
    Ok(format!("{}{}", commit.trim(), if changed { "+work" } else { "" }))
}

/// Copies what git knows of a folder of `root`.
fn copy(root: &Path, folder: &Path, to: &Path) -> Result<()> {
    let listed = shell::output(shell::command("git", ["ls-files", "--"]).arg(folder))?;
    for file in listed.lines().filter(|file| !file.ends_with(".log")) {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
        std::fs::copy(root.join(file), &target).with_context(|| format!("{file} could not be packed"))?;
    }
    Ok(())
}

/// The test executable that cargo tells of, one JSON message a line
/// (<https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages>).
///
/// # Errors
/// When there is none, or several.
fn executable(messages: &str) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    let told = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let mut found: Vec<PathBuf> = told.filter_map(|message| message.executable).collect();
    match (found.pop(), found.is_empty()) {
        (Some(path), true) => Ok(path),
        _ => bail!("cargo was to build one test executable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_test_executable_is_found_among_cargos_messages() {
        let library = r#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":null}"#;
        let test = r#"{"reason":"compiler-artifact","target":{"name":"b"},"executable":"/t/b-0123"}"#;
        let end = r#"{"reason":"build-finished","success":true}"#;
        let all = |lines: &[&str]| executable(&lines.join("\n"));
        assert_eq!(all(&[library, test, end]).expect("there is one"), PathBuf::from("/t/b-0123"));
        assert!(all(&[library, end]).is_err());
        assert!(all(&[test, test, end]).is_err());
    }
}
