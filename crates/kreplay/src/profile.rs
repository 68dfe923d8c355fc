//! `kreplay profile`: runs a program and records what its processes say.
//!
//! ```text
//!   main thread       spawns the program, waits for it, finishes the file, prints the summary
//!   listen            accepts connections; one thread each (receive) turns frames into events
//!   recording thread  the only one that writes the file
//!   signals           passes signals on to the program
//!   live              draws the line on the terminal
//! ```

mod alive;
mod check;
mod checked;
mod child;
mod events;
mod listen;
mod live;
mod output_file;
mod private;
mod progress;
mod receive;
mod recording;
mod settings;
mod signals;
mod summary;
mod together;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kreplay_store::{RunEnd, RunInfo};

use crate::cli::ProfileOptions;
use crate::devices;
use crate::error::ExpectedError;
use crate::output::note;
use crate::{exit_codes, plan};

pub(crate) use check::run as check;
use events::Event;
use progress::Progress;
use recording::Recording;
pub(crate) use signals::hear_of_children;

/// Runs a program and records what its processes say. Gives the program's own exit code where nothing of ours failed.
pub(crate) fn run(options: &ProfileOptions) -> Result<u8, ExpectedError> {
    let backend = devices::choose(options.device);
    let names = plan::names(&options.counters, options.set.as_deref())?;
    if let Some(refused) = check::apart(options.device, &names, options.passes)? {
        return Ok(refused);
    }
    let settings = settings::settings(options, backend.as_ref(), names)?;
    if let Some(doubt) = together::doubt(options) {
        note(&format!("kreplay: {doubt}"));
    }

    // Caught before anything is made, so that nothing is left behind.
    let mut signals = signals::Signals::catch()?;
    let private = private::PrivateFolder::make()?;
    let environment = backend.environment(private.path())?;
    let socket = listen::Socket::bind(private.path())?;
    let draft = output_file::create(options, &run_info(options, &settings))?;

    // The terminal sends no signal to a program that is not there yet.
    if let Some(signal) = signals.came() {
        return Ok(exit_codes::of_signal(signal));
    }
    let program = child::spawn(&options.program, &environment, socket.path())?;
    // Where the program cannot be started, nothing is recorded and nothing replaced.
    let writer = draft.keep();
    let file = writer.path().to_owned();

    let progress = Arc::new(Progress::default());
    let (events, received) = events::channel();
    let recording = Recording::new(writer, received, Arc::clone(&progress), Duration::from_secs(options.linger));
    let recording = recording.start()?;
    socket.listen(settings, events.clone())?;
    let recipient = signals::Recipient::new(program.id());
    signals.pass_on_to(recipient.clone(), events.clone())?;
    let live = live::Live::start(options.quiet, Arc::clone(&progress));

    let ended = program.wait(|| recipient.has_ended());
    // The recording thread ends once every process's connection has; a closed channel means that it has already.
    let _ = events.send(Event::ProgramEnded);
    let recorded = recording.join();
    drop(live);
    let recorded = recorded?;

    let end = RunEnd {
        end_unix_ns: now_unix_ns(),
        exit_code: ended.code,
        exit_signal: ended.signal,
        incomplete: recorded.failed.is_some() || recorded.left_running + recorded.left_unread > 0,
    };
    let mut failed = recorded.failed;
    if let Some(writer) = recorded.writer
        && let Err(error) = writer.finish(end)
    {
        failed.get_or_insert(error);
    }
    for complaint in &recorded.complaints {
        note(&format!("kreplay: {complaint}"));
    }
    summary::write(&file, options.quiet, recorded.left_running, recorded.left_unread);
    if let Some(error) = &failed {
        note(&format!("kreplay: {error}"));
        note("kreplay: the program went on unprofiled from there; what was recorded before is in the file");
        let mut log = file.clone().into_os_string();
        log.push("-wal");
        if std::path::Path::new(&log).exists() {
            note(&format!("kreplay: a part of it is in {} beside it: keep both", log.to_string_lossy()));
        }
    }
    Ok(match (ended.exit_code(), failed) {
        (0, Some(_)) => exit_codes::RECORDING,
        (code, _) => code,
    })
}

fn run_info(options: &ProfileOptions, settings: &kreplay_protocol::Settings) -> RunInfo {
    RunInfo {
        command: options.program.iter().map(|part| part.to_string_lossy().into_owned()).collect(),
        directory: std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        settings: settings.clone(),
        start_unix_ns: now_unix_ns(),
    }
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
