//! The one thread that writes the file.

use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kreplay_store::{ProcessEnd, ProcessId, StoreError, Writer};

use super::alive::Peer;
use super::events::{ConnectionId, Event};
use super::progress::Progress;
use crate::error::ExpectedError;

/// Records that are committed together, at most. With nothing waiting, each is committed at once.
const TOGETHER: u64 = 256;

/// How often it is looked whether the processes of open connections still run, once the waiting for them is over.
const LOOK: Duration = Duration::from_millis(100);

/// How long a dead process's connection may stay open and say nothing.
const SILENT: Duration = Duration::from_secs(30);

/// The longest that is waited for processes that the program left behind: for ever, in a sum that no clock overflows.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The file, unless writing it failed.
    pub(super) writer: Option<Writer>,
    /// Why writing failed.
    pub(super) failed: Option<StoreError>,
    /// What the user must know, each once.
    pub(super) complaints: Vec<String>,
    /// Processes that still ran when the waiting ended.
    pub(super) left_running: usize,
    /// Processes that had ended then, and of which not all that they had sent was taken in.
    pub(super) left_unread: usize,
}

struct Open {
    process: ProcessId,
    stream: UnixStream,
    peer: Peer,
}

impl Open {
    /// A process that was forked from it may hold the connection of a dead one open: nobody says anything there any more, so
    /// that it ends behind what has been said. Returns whether the process runs.
    fn runs(&self) -> bool {
        let runs = self.peer.runs();
        if !runs {
            // What is on its way is read before the end is seen.
            let _ = self.stream.shutdown(std::net::Shutdown::Read);
        }
        runs
    }
}

/// The recording thread's state.
pub(super) struct Recording {
    events: Receiver<Event>,
    progress: Arc<Progress>,
    linger: Duration,
    open: HashMap<ConnectionId, Open>,
    /// Set once the program has ended: when the waiting for others ends.
    until: Option<Instant>,
    /// When it is next looked whether only the living are left.
    look_at: Option<Instant>,
    recorded: Recorded,
}

/// The running recording thread.
pub(super) struct Running(JoinHandle<Recorded>);

impl Running {
    /// Waits until it has ended.
    ///
    /// # Errors
    /// [`ExpectedError::Internal`] when it panicked; the file has what was committed.
    pub(super) fn join(self) -> Result<Recorded, ExpectedError> {
        self.0.join().map_err(|_| ExpectedError::Internal("the recording thread failed; its message is above".into()))
    }
}

impl Recording {
    pub(super) fn new(writer: Writer, events: Receiver<Event>, progress: Arc<Progress>, linger: Duration) -> Self {
        Self {
            events,
            progress,
            linger: linger.min(LONGEST),
            open: HashMap::new(),
            until: None,
            look_at: None,
            recorded: Recorded { writer: Some(writer), ..Recorded::default() },
        }
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// [`ExpectedError::Io`].
    pub(super) fn start(self) -> Result<Running, ExpectedError> {
        std::thread::Builder::new()
            .name("recording".into())
            .spawn(|| self.run())
            .map(Running)
            .map_err(|source| ExpectedError::Io { what: "a thread".into(), action: "started", source })
    }

    fn run(mut self) -> Recorded {
        while !self.is_done() {
            match self.next() {
                Some(event) => self.handle(event),
                None => break,
            }
        }
        self.leave();
        self.try_write(Writer::commit);
        self.recorded
    }

    fn is_done(&self) -> bool {
        self.until.is_some() && self.open.is_empty()
    }

    /// Tells those that are left apart: the living stay as they are, the dead are lost.
    fn leave(&mut self) {
        for open in std::mem::take(&mut self.open).into_values() {
            if open.runs() {
                self.recorded.left_running += 1;
            } else {
                self.recorded.left_unread += 1;
                self.try_write(|writer| writer.end_process(open.process, ProcessEnd::Lost));
            }
        }
    }

    /// The next event; whatever was given is committed before waiting for one. `None` when the waiting is over.
    fn next(&mut self) -> Option<Event> {
        if self.enough() {
            return None;
        }
        match self.events.try_recv() {
            Ok(event) => return Some(event),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => self.try_write(Writer::commit),
        }
        let Some(until) = self.until else { return self.events.recv().ok() };
        let mut silent = Duration::ZERO;
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            if let Ok(event) = self.events.recv_timeout(wait.max(LOOK)) {
                return Some(event);
            }
            // Only the living are not waited for any longer. What the dead have said is still on its way here.
            silent += LOOK;
            if self.living() > 0 || silent >= SILENT {
                return None;
            }
        }
    }

    /// Whether the waiting is over although events keep coming: the living would go on for ever. Dead processes' last
    /// words are taken in, unless the living drown them for too long.
    fn enough(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        let now = Instant::now();
        if now < self.look_at.unwrap_or(until + LOOK) {
            return false;
        }
        self.look_at = Some(now + LOOK);
        self.living() == self.open.len() || now >= until + SILENT
    }

    /// How many processes with a connection run. The connections of the others end.
    fn living(&self) -> usize {
        self.open.values().filter(|open| open.runs()).count()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Connected { id, hello, stream, answer } => {
                let mut added = None;
                self.try_write(|writer| writer.add_process(&hello).map(|process| added = Some(process)));
                let refused = match added {
                    Some(process) => {
                        self.progress.add_process();
                        let peer = Peer::of(&stream);
                        self.open.insert(id, Open { process, stream, peer });
                        None
                    }
                    None => Some("the profile's file cannot be written".to_owned()),
                };
                // A process that has gone meanwhile closes its connection, which is an event of its own.
                let _ = answer.send(refused);
            }
            Event::Message { id, message } => {
                let Some(process) = self.open.get(&id).map(|open| open.process) else { return };
                self.progress.add(&message);
                self.try_write(|writer| {
                    writer.add(process, &message)?;
                    if writer.pending() >= TOGETHER { writer.commit() } else { Ok(()) }
                });
            }
            Event::Closed { id, end } => {
                if let Some(open) = self.open.remove(&id) {
                    self.try_write(|writer| writer.end_process(open.process, end));
                }
            }
            Event::Complaint(text) => {
                if !self.recorded.complaints.contains(&text) {
                    self.recorded.complaints.push(text);
                }
            }
            Event::ProgramEnded => {
                self.until = Some(Instant::now() + self.linger);
                self.living();
            }
            // What the dead have sent is taken in all the same. Asked again, it takes no longer.
            Event::Stop => self.until = self.until.map(|until| until.min(Instant::now())),
        }
    }

    /// Writes, unless that has failed before. When it fails every process is let go: it goes on unprofiled.
    fn try_write(&mut self, write: impl FnOnce(&mut Writer) -> Result<(), StoreError>) {
        let Some(writer) = &mut self.recorded.writer else { return };
        if let Err(error) = write(writer) {
            self.recorded.writer = None;
            self.recorded.failed = Some(error);
            for open in self.open.values() {
                let _ = open.stream.shutdown(std::net::Shutdown::Both);
            }
        }
    }
}
