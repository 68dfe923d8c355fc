//! A profiled process's side of the profile.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use kreplay_protocol::{Device, Settings};

use crate::connection::Connection;
use crate::link::{Link, STALL};
use crate::{NameFilter, SessionError, SessionRecorder, handshake, settings};

/// Which interface of the program a backend stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// HSA: AMD GPUs and the software GPU.
    Hsa,
    /// CUDA.
    Cuda,
}

impl Backend {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Hsa => "hsa",
            Backend::Cuda => "cuda",
        }
    }

    /// Whether it is the one that drives `device`.
    pub fn drives(self, device: Device) -> bool {
        match device {
            Device::Soft | Device::Hsa => self == Backend::Hsa,
            Device::Cuda => self == Backend::Cuda,
        }
    }
}

/// A profiled process's side of the profile. See the crate's documentation for its life.
pub struct Session {
    shared: Arc<Shared>,
    backend: Backend,
    filter: Arc<NameFilter>,
    engine: kreplay_engine::Settings,
}

pub(crate) struct Shared {
    pub(crate) start: Instant,
    pub(crate) settings: Settings,
    pub(crate) alive: Arc<AtomicBool>,
    pub(crate) root: Connection,
}

impl Session {
    /// Connects to the command that listens at `path`. `Ok(None)` when the profile is another backend's.
    ///
    /// # Errors
    /// [`SessionError`]; the program then goes on unprofiled.
    pub fn connect(path: &Path, backend: Backend) -> Result<Option<Session>, SessionError> {
        let start = Instant::now();
        let (stream, received) = handshake::connect(path)?;
        if !backend.drives(received.device) {
            handshake::close(stream);
            return Ok(None);
        }
        let alive = Arc::new(AtomicBool::new(true));
        let filter = Arc::new(NameFilter::new(&received.filters, Arc::clone(&alive))?);
        let engine = settings::engine_settings(&received)?;
        let pid = std::process::id();
        let root = Connection::new(pid, Link::new(stream, Arc::clone(&alive), STALL, pid));
        let shared = Arc::new(Shared { start, settings: received, alive, root });
        Ok(Some(Session { shared, backend, filter, engine }))
    }

    /// What the command wants.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The same for the engine.
    pub fn engine_settings(&self) -> kreplay_engine::Settings {
        self.engine.clone()
    }

    /// Which dispatches are profiled.
    pub fn filter(&self) -> Arc<NameFilter> {
        Arc::clone(&self.filter)
    }

    /// Where the engine's records go. Make it right before the engine: the engine's times count from here.
    pub fn recorder(&self) -> Arc<SessionRecorder> {
        Arc::new(SessionRecorder::new(Arc::clone(&self.shared), self.backend))
    }

    /// Whether anybody still wants records: one relaxed load. Once false, always false.
    pub fn alive(&self) -> bool {
        self.shared.alive.load(Ordering::Relaxed)
    }

    /// The flag behind [`Session::alive`], for interceptors that keep their own pointer to it.
    pub fn alive_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.alive)
    }

    /// Tells the user something once for each `key`, in the profile's file and at the end of the run; also on stderr
    /// where the settings ask for it.
    pub fn warn(&self, key: &'static str, message: String) {
        kreplay_engine::Recorder::warn(&SessionRecorder::new(Arc::clone(&self.shared), self.backend), key, message);
    }

    /// The process ends in order: sends the summary and waits until everything is on its way, or the command is given
    /// up. [`Session::alive`] is false afterwards. Later calls do nothing, and nor do those of a forked child.
    pub fn finish(&self) {
        if let Some(connection) = self.shared.connection() {
            connection.finish(&self.shared.alive);
        }
    }
}

impl Shared {
    /// This process's connection; `None` in a forked child, which has nothing to say. Asks the system who we are.
    pub(crate) fn connection(&self) -> Option<&Connection> {
        self.root.of(std::process::id())
    }
}
