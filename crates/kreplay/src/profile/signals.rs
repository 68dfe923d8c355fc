//! Signals: the program gets those that were meant for it, and this process lives to finish the file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use super::recording::{Event, Events};
use crate::error::ExpectedError;

/// Caught signals.
#[derive(Debug)]
pub(super) struct Signals {
    signals: SignalsInfo<WithOrigin>,
}

impl Signals {
    /// Catches signals from now on; they wait until [`Signals::pass_on_to`].
    ///
    /// # Errors
    /// [`ExpectedError::Io`].
    pub(super) fn catch() -> Result<Self, ExpectedError> {
        let failed = |source| ExpectedError::Io { what: "a signal handler".into(), action: "made", source };
        // A file that grows past its limit is then an error of the write and not this process's end.
        signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
        let signals = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2]);
        Ok(Self { signals: signals.map_err(failed)? })
    }

    /// Passes signals on to the program until it has ended. A signal that comes from the terminal reaches the program by
    /// itself, since it is in the terminal's foreground group as this process is; it is not sent twice. After the
    /// program's end SIGINT and SIGTERM end the waiting for processes that it left behind.
    ///
    /// # Errors
    /// [`ExpectedError::Io`] when no thread can be started.
    pub(super) fn pass_on_to(mut self, program: u32, events: Events) -> Result<(), ExpectedError> {
        let program = i32::try_from(program).ok().and_then(Pid::from_raw);
        let ended = Arc::new(AtomicBool::new(false));
        let pass_on = move || {
            for origin in &mut self.signals {
                if matches!(origin.signal, SIGINT | SIGTERM) {
                    // The recording thread ignores it while the program runs.
                    let _ = events.send(Event::Stop);
                }
                let from_a_process = origin.process.is_some_and(|process| process.pid != 0);
                if let (Some(program), true, false) = (program, from_a_process, ended.load(Ordering::Relaxed))
                    && let Some(signal) = Signal::from_named_raw(origin.signal)
                {
                    // The only failure is that the program has ended meanwhile.
                    ended.store(kill_process(program, signal).is_err(), Ordering::Relaxed);
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
