//! The program.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use crate::error::ExpectedError;

/// The running program.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
}

/// How it ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    /// Its exit code.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
}

impl Ended {
    /// What a shell would say: the exit code, or 128 + n for signal n.
    pub(super) fn exit_code(self) -> u8 {
        let code = self.code.or_else(|| self.signal.map(|signal| 128 + signal)).unwrap_or(1);
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// Starts the program with its own stdin, stdout and stderr, and the environment that makes it load kreplay.
///
/// # Errors
/// [`ExpectedError::Program`].
pub(super) fn spawn(
    program: &[OsString],
    environment: &[(&'static str, OsString)],
    socket: &Path,
) -> Result<Program, ExpectedError> {
    let (name, arguments) = program.split_first().ok_or_else(|| ExpectedError::Usage {
        what: "there is no program to run".into(),
        hint: "give it after `--`".into(),
    })?;
    let child = Command::new(name)
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env(kreplay_protocol::SOCKET_VARIABLE, socket)
        .spawn()
        .map_err(|source| ExpectedError::Program { program: name.to_string_lossy().into_owned(), source })?;
    Ok(Program { child })
}

impl Program {
    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends.
    pub(super) fn wait(mut self) -> Ended {
        match self.child.wait() {
            Ok(status) => Ended { code: status.code(), signal: status.signal() },
            // Somebody else waited for our child: how it ended is lost.
            Err(_) => Ended { code: None, signal: None },
        }
    }
}
