//! Debian packages that a task needs.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell;

/// The HSA runtime: enough to run the demo on the software GPU.
pub(crate) const RUNTIME: &[&str] = &["libhsa-runtime64-1"];

/// What the tests need beyond the runtime: HIP programs are compiled and run, code objects are built and taken apart.
pub(crate) const TESTS: &[&str] = &[
    "libhsa-runtime64-1",
    "hipcc",
    "libamdhip64-5",
    "libamdhip64-dev",
    "librocrand1",
    "librocrand-dev",
    "rocm-device-libs",
    "clang-19",
    "llvm-19",
    "lld-19",
];

/// Installs what is missing of `packages`.
///
/// # Errors
/// When something is missing and this user may not install it, or the installation fails; the message tells the
/// command to run.
pub(crate) fn ensure(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let line = format!("apt-get install --no-install-recommends {}", missing.join(" "));
    if !rustix::process::geteuid().is_root() {
        bail!("these Debian packages are missing: {}. Install them with\n    sudo {line}", missing.join(", "));
    }
    if !shell::has("apt-get", "--version") {
        bail!(
            "{} are missing and there is no apt-get here. On Debian 12 they come with\n    {line}\n\
             On another system install its own packages of the same libraries.",
            missing.join(", ")
        );
    }
    // Lists that are hours old name versions that the mirror no longer has, so they are always refreshed.
    shell::run(&mut apt(["update", "-q"]))?;
    let install = ["install", "-y", "-q", "--no-install-recommends"].into_iter().chain(missing.iter().copied());
    shell::run(&mut apt(install)).with_context(|| format!("installing failed; try it by hand:\n    {line}"))
}

fn apt<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = shell::command("apt-get", arguments);
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

fn installed(package: &str) -> bool {
    let query = Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]).output();
    query.is_ok_and(|output| output.status.success() && output.stdout.starts_with(b"installed"))
}
