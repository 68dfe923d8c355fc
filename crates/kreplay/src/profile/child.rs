//! The program.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

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

    /// Waits until it ends. `ended` is called when it has and its number is still its own.
    pub(super) fn wait(mut self, ended: impl FnOnce()) -> Ended {
        let program = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        if let Some(program) = program {
            // An error means that there is nothing to wait for, which the other wait tells too.
            let look = || waitid(WaitId::Pid(program), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = retry_on_intr(look);
        }
        ended();
        match self.child.wait() {
            Ok(status) => Ended { code: status.code(), signal: status.signal() },
            // Somebody else waited for our child: how it ended is lost.
            Err(_) => Ended { code: None, signal: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_before_the_number_is_free() {
        let program = spawn(&["sh".into(), "-c".into(), "exit 7".into()], &[], Path::new("socket")).unwrap();
        let stat = format!("/proc/{}/stat", program.id());
        let mut state = String::new();
        let ended = program.wait(|| state = std::fs::read_to_string(&stat).unwrap());
        assert!(state.contains(") Z "), "{state}");
        assert_eq!((ended.code, ended.signal), (Some(7), None));
    }
}
