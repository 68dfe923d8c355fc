//! Running other programs from the workspace's root.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask lies in a folder of the workspace").to_path_buf()
}

/// The folder that cargo builds into, where the environment does not name another.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A command that starts in the workspace's root.
pub(crate) fn command<A: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).args(arguments);
    command
}

/// A cargo command: the cargo that runs this task.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = command(&cargo, arguments);
    // What cargo told xtask about xtask is not meant for the cargo below.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("CARGO_PKG_NAME");
    command
}

/// How a command reads in a shell.
pub(crate) fn display(command: &Command) -> String {
    let mut line = Path::new(command.get_program())
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        line.push(' ');
        if argument.contains([' ', '*', '$', '(']) {
            line.push_str(&format!("'{argument}'"));
        } else {
            line.push_str(&argument);
        }
    }
    line
}

/// Runs a command with the terminal as it is.
///
/// # Errors
/// When it cannot be started or does not end with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = display(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// What a command writes on its standard output.
///
/// # Errors
/// When it cannot be started or does not end with 0; the message holds its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = display(command);
    let output = command.output().with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!("`{line}` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a command wrote, and whether it ended with 0.
pub(crate) struct Watched {
    /// Standard output and standard error, line by line as they came.
    pub(crate) lines: Vec<String>,
    /// Whether it ended with 0.
    pub(crate) success: bool,
}

/// Runs a command, passing on every line that it writes and keeping a copy.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn watch(command: &mut Command) -> Result<Watched> {
    let line = display(command);
    eprintln!("$ {line}");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` could not be started"))?;
    let errors = child.stderr.take().map(|pipe| thread::spawn(move || tee(pipe, std::io::stderr())));
    let mut lines = child.stdout.take().map_or_else(Vec::new, |pipe| tee(pipe, std::io::stdout()));
    if let Some(thread) = errors {
        lines.extend(thread.join().unwrap_or_default());
    }
    Ok(Watched { lines, success: child.wait()?.success() })
}

fn tee(from: impl Read, mut to: impl Write) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        // A closed terminal does not end the checks.
        let _ = writeln!(to, "{line}");
        lines.push(line);
    }
    lines
}

/// Whether a program can be started at all.
pub(crate) fn has(program: &str, version_flag: &str) -> bool {
    Command::new(program)
        .arg(version_flag)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
