//! Signals: the program gets those that were meant for it, and this process lives to finish the file.

use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use super::events::{Event, Events};
use crate::error::ExpectedError;

/// What is passed on.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Caught signals.
#[derive(Debug)]
pub(super) struct Signals {
    signals: SignalsInfo<WithOrigin>,
}

impl Signals {
    /// Catches signals from now on; they wait until [`Signals::came`] or [`Signals::pass_on_to`]. One that is ignored stays so:
    /// it would be the program's to ignore too (`nohup`, `&` in a script), and one that is caught is not inherited.
    ///
    /// # Errors
    /// [`ExpectedError::Io`].
    pub(super) fn catch() -> Result<Self, ExpectedError> {
        let failed = |source| ExpectedError::Io { what: "a signal handler".into(), action: "set", source };
        let ignored = Ignored::of_this_process();
        if !ignored.has(SIGXFSZ) {
            // A file that grows past its limit is then an error of the write and not this process's end.
            signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
        }
        let caught = PASSED_ON.into_iter().filter(|signal| !ignored.has(*signal));
        Ok(Self { signals: SignalsInfo::<WithOrigin>::new(caught).map_err(failed)? })
    }

    /// A signal that has come already, while there was no program to pass it on to.
    pub(super) fn came(&mut self) -> Option<i32> {
        self.signals.pending().next().map(|origin| origin.signal)
    }

    /// Passes signals on to the program until it has ended. A signal that comes from the terminal reaches the program by
    /// itself, since it is in the terminal's foreground group as this process is; it is not sent twice. After the
    /// program's end SIGINT and SIGTERM end the waiting for processes that it left behind.
    ///
    /// # Errors
    /// [`ExpectedError::Io`] when no thread can be started.
    pub(super) fn pass_on_to(mut self, program: Recipient, events: Events) -> Result<(), ExpectedError> {
        let pass_on = move || {
            for origin in &mut self.signals {
                if matches!(origin.signal, SIGINT | SIGTERM) {
                    // The recording thread ignores it while the program runs.
                    let _ = events.send(Event::Stop);
                }
                // The terminal is no process. One that this process cannot see, outside of its container, is number 0.
                if origin.process.is_some() {
                    program.send(origin.signal);
                }
            }
        };
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(pass_on)
            .map(drop)
            .map_err(|source| ExpectedError::Io { what: "a thread".into(), action: "started", source })
    }
}

/// The program, as long as it gets signals.
#[derive(Debug, Clone)]
pub(super) struct Recipient(Arc<Mutex<Option<Pid>>>);

impl Recipient {
    /// The child of this process with this number.
    pub(super) fn new(program: u32) -> Self {
        Self(Arc::new(Mutex::new(i32::try_from(program).ok().and_then(Pid::from_raw))))
    }

    fn send(&self, signal: i32) {
        let program = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(program), Some(signal)) = (*program, Signal::from_named_raw(signal)) {
            // The only failure is that the program has ended meanwhile.
            let _ = kill_process(program, signal);
        }
    }

    /// The program has ended: it gets nothing more. To be said before it is waited for, since its number may be another
    /// process's from then on.
    pub(super) fn has_ended(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A process that ignores the end of its children does not learn how they ended. It is started so by some that start
/// programs and do not wait for them; ours are waited for. Each of them begins with the default again.
///
/// # Errors
/// [`ExpectedError::Io`].
pub(crate) fn hear_of_children() -> Result<(), ExpectedError> {
    if Ignored::of_this_process().has(SIGCHLD) {
        // The only way to the default that is not unsafe: what is caught is not ignored, and not inherited.
        signal_hook::flag::register(SIGCHLD, Arc::default()).map_err(|source| ExpectedError::Io {
            what: "a signal handler".into(),
            action: "set",
            source,
        })?;
    }
    Ok(())
}

/// The signals that this process ignores, as it did when it was started: signal n is bit n - 1.
#[derive(Debug, Clone, Copy)]
struct Ignored(u64);

impl Ignored {
    /// None where the system does not tell.
    fn of_this_process() -> Self {
        Self::of(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
    }

    fn of(status: &str) -> Self {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    fn has(self, signal: i32) -> bool {
        (1..=64).contains(&signal) && self.0 >> (signal - 1) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_told_from_others() {
        let ignored = Ignored::of("SigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n");
        assert!(ignored.has(SIGHUP) && ignored.has(13));
        assert!(!ignored.has(SIGINT) && !ignored.has(SIGTERM) && !ignored.has(0));
        assert!(!Ignored::of("").has(SIGHUP));
    }

    #[test]
    fn what_comes_early_is_told() {
        let mut signals = Signals::catch().unwrap();
        assert_eq!(signals.came(), None);
        kill_process(rustix::process::getpid(), Signal::USR2).unwrap();
        // Another thread may be the one that is interrupted.
        let came = std::iter::repeat_with(|| signals.came()).find_map(|came| came);
        assert_eq!(came, Some(SIGUSR2));
    }

    #[test]
    fn nobody_gets_what_was_meant_for_an_ended_program() {
        use std::os::unix::process::ExitStatusExt;
        for ended in [false, true] {
            let mut child = std::process::Command::new("sleep").arg("120").spawn().unwrap();
            let program = Recipient::new(child.id());
            if ended {
                program.has_ended();
            }
            program.send(SIGUSR1);
            child.kill().unwrap();
            let signal = child.wait().unwrap().signal();
            // A process ends by the first signal that ends it.
            assert_eq!(signal == Some(SIGUSR1), !ended, "{signal:?}");
        }
    }
}
