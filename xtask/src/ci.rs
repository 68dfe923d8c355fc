//! Everything that continuous integration checks, in the order of what fails fastest.

use std::ffi::OsString;

use anyhow::{Context, Result, bail};

use crate::code_objects::Checked;
use crate::r#gen::Mode;
use crate::tally::{self, Tally};
use crate::{bench, r#gen, packages, shell, wheels};

/// The version that is installed where cargo-deny is missing.
const CARGO_DENY: &str = "0.20.2";

/// Runs every check, all of them even when one fails.
///
/// # Errors
/// When a check failed; the message names each.
pub(crate) fn run() -> Result<()> {
    packages::ensure(packages::TESTS)?;
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    let mut check = |name: &str, result: Result<()>| {
        if let Err(error) = result {
            eprintln!("{name}: {error:#}");
            failures.push(name.to_owned());
        }
    };
    check("fmt", shell::run(&mut shell::cargo(["fmt", "--all", "--check"])));
    check("deny", deny());
    match r#gen::check(Mode::Check) {
        Ok(Checked::Same) => {}
        Ok(Checked::Skipped) => tally.skipped += 1,
        Err(error) => check("gen", Err(error)),
    }
    check("bench", bench::run(Mode::Check));
    check("clippy", clippy());
    check("doc", docs());
    let mut found = Vec::new();
    for wheel in &wheels::TESTS {
        match wheel.get() {
            Ok(file) => found.push((wheel.variable, file)),
            // A test that finds something missing fails in continuous integration, and so does what should have fetched it.
            Err(error) if in_ci() => check(wheel.variable, Err(error)),
            Err(error) => println!("skipped: {error:#}"),
        }
    }
    check("tests", tests(&found, &mut tally));
    if !failures.is_empty() {
        eprintln!("failed: {}", failures.join(", "));
    }
    println!("{tally}");
    if !failures.is_empty() {
        bail!("these checks failed: {}", failures.join(", "));
    }
    Ok(())
}

fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

fn clippy() -> Result<()> {
    shell::run(&mut shell::cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn docs() -> Result<()> {
    let mut doc = shell::cargo(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    shell::run(doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}

/// Licences, banned and doubled crates, sources. Advisories are not checked: their database needs a network that
/// continuous integration lacks.
fn deny() -> Result<()> {
    if !shell::has("cargo-deny", "--version") {
        shell::run(&mut shell::cargo(["install", "--locked", "--version", CARGO_DENY, "cargo-deny"]))?;
    }
    shell::run(&mut shell::cargo(["deny", "--workspace", "check", "licenses", "bans", "sources"]))
}

/// Unit, integration and documentation tests. The libraries that tests load into other programs are built first: cargo
/// builds them for no test by itself.
fn tests(environment: &[(&str, OsString)], tally: &mut Tally) -> Result<()> {
    shell::run(&mut shell::cargo(["build", "--workspace", "--all-targets"]))?;
    let nextest = shell::has("cargo-nextest", "--version");
    let arguments: &[&str] = if nextest {
        &["nextest", "run", "--profile", "ci", "--workspace", "--no-fail-fast", "--status-level", "fail"]
    } else {
        &["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--", "--show-output"]
    };
    let report = shell::target().join("nextest/ci/junit.xml");
    // One of an earlier run tells nothing of this one.
    let _ = std::fs::remove_file(&report);
    let mut failed = Vec::new();
    for (name, arguments) in [("tests", arguments), ("doc tests", &["test", "--workspace", "--doc", "--no-fail-fast"])]
    {
        let mut command = shell::cargo(arguments.iter().copied());
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        if in_ci() {
            // A test that finds something missing fails here instead of being skipped.
            command.env("KREPLAY_NO_SKIP", "1");
        }
        let watched = shell::watch(&mut command)?;
        *tally += tally::from_lines(&watched.lines);
        if !nextest {
            tally.skip(tally::skips_in_lines(&watched.lines));
        }
        if !watched.success {
            failed.push(name);
        }
    }
    if nextest {
        let report =
            std::fs::read_to_string(&report).with_context(|| format!("nextest left no {}", report.display()))?;
        tally.skip(tally::skips_in_report(&report));
    }
    if tally.passed == 0 {
        bail!("no test ran");
    }
    if !failed.is_empty() {
        bail!("{} failed", failed.join(" and "));
    }
    Ok(())
}
