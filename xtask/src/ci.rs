//! Everything that continuous integration checks, in the order of what fails fastest.

use anyhow::{Result, bail};

use crate::code_objects::Checked;
use crate::r#gen::Mode;
use crate::tally::{self, Tally};
use crate::{bench, r#gen, packages, shell};

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
    check("tests", tests(&mut tally));
    if !failures.is_empty() {
        eprintln!("failed: {}", failures.join(", "));
    }
    println!("{tally}");
    if !failures.is_empty() {
        bail!("these checks failed: {}", failures.join(", "));
    }
    Ok(())
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
fn tests(tally: &mut Tally) -> Result<()> {
    shell::run(&mut shell::cargo(["build", "--workspace", "--all-targets"]))?;
    let nextest = shell::has("cargo-nextest", "--version");
    let arguments: &[&str] = if nextest {
        &["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "fail"]
    } else {
        &["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"]
    };
    let mut failed = Vec::new();
    for (name, arguments) in [("tests", arguments), ("doc tests", &["test", "--workspace", "--doc", "--no-fail-fast"])]
    {
        let mut command = shell::cargo(arguments.iter().copied());
        if std::env::var_os("CI").is_some() {
            // A test that finds something missing fails here instead of being skipped.
            command.env("KREPLAY_NO_SKIP", "1");
        }
        let watched = shell::watch(&mut command)?;
        *tally += tally::from_lines(&watched.lines);
        if !watched.success {
            failed.push(name);
        }
    }
    if tally.passed == 0 {
        bail!("no test ran");
    }
    if !failed.is_empty() {
        bail!("{} failed", failed.join(" and "));
    }
    Ok(())
}
