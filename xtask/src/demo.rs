//! `cargo demo`: a fresh checkout to a profile on the screen.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::demo_summary::Summary;
use crate::{packages, shell};

/// What the demo counts: more than the hardware holds at once, so that every kernel runs in several passes.
const COUNTERS: &str = "SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_LDS,TCC_READ,TCC_WRITE,TCC_ATOMIC,TCC_EA_RDREQ,TCC_EA_WRREQ";

/// Builds everything, profiles the demo program on the software GPU, and shows what came of it.
///
/// # Errors
/// When a step fails, the program's own check fails, or a kernel was not replayed.
pub(crate) fn run() -> Result<()> {
    packages::ensure(packages::RUNTIME)?;
    shell::run(&mut shell::cargo([
        "build",
        "--quiet",
        "-p",
        "kreplay",
        "-p",
        "kreplay-inject",
        "-p",
        "softgpu-thunk",
        "-p",
        "softgpu-aqlprofile",
        "-p",
        "demo",
    ]))?;
    let build = shell::target().join("debug");
    let file = shell::target().join("demo.kreplay");
    remove_old(&file)?;

    let started = Instant::now();
    let mut profile = kreplay(&build, ["profile", "--quiet", "--device", "soft", "-c", COUNTERS, "-o"]);
    profile.arg(&file).arg("--").arg(build.join("demo"));
    shell::run(&mut profile).context("the demo program's own check failed, or it could not be profiled")?;
    let seconds = started.elapsed().as_secs_f64();

    println!();
    shell::run(kreplay(&build, ["report"]).arg(&file).args(["--by", "kernel"]))?;
    let json = shell::output(kreplay(&build, ["report"]).arg(&file).args(["--format", "json"]))?;
    let summary = Summary::from_json(&json)?;
    println!();
    println!("{summary}");
    println!("The profiled run took {seconds:.1} s. Its file: {}", shown(&file).display());
    println!("Look at it again: {} report {}", shown(&build.join("kreplay")).display(), shown(&file).display());
    match summary.failures().as_slice() {
        [] => Ok(()),
        failures => bail!("the demo failed: {}", failures.join("; ")),
    }
}

fn kreplay<'a>(build: &Path, arguments: impl IntoIterator<Item = &'a str>) -> std::process::Command {
    shell::command(&build.join("kreplay").to_string_lossy(), arguments)
}

/// A file of an earlier run, with what SQLite may have left beside it.
fn remove_old(file: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let path = PathBuf::from(format!("{}{end}", file.display()));
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("{} could not be removed", path.display())),
        }
    }
    Ok(())
}

fn shown(path: &Path) -> &Path {
    std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}
