//! The socket that processes of the program connect to.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kreplay_protocol::Settings;

use super::events::Events;
use super::receive::receive;
use crate::error::ExpectedError;

/// The socket, with mode 0600 in a folder with mode 0700.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    /// Makes it.
    ///
    /// # Errors
    /// [`ExpectedError::Io`].
    pub(super) fn bind(folder: &Path) -> Result<Self, ExpectedError> {
        let path = folder.join("socket");
        let failed = |source| ExpectedError::Io { what: path.display().to_string(), action: "made", source };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self { path, listener })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes connections from now on, until this process ends.
    ///
    /// # Errors
    /// [`ExpectedError::Io`] when no thread can be started.
    pub(super) fn listen(self, settings: Settings, events: Events) -> Result<(), ExpectedError> {
        let settings = Arc::new(settings);
        let accept = move || {
            for (number, stream) in (0..).zip(self.listener.incoming()) {
                // A failed accept (out of file descriptors) costs that process its profile, not this run.
                let Ok(stream) = stream else {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    continue;
                };
                let (settings, events) = (Arc::clone(&settings), events.clone());
                let one = move || receive(number, stream, &settings, &events);
                // Without a thread the stream is closed, and its process goes on unprofiled.
                let _ = std::thread::Builder::new().name(format!("process {number}")).spawn(one);
            }
        };
        std::thread::Builder::new().name("listen".into()).spawn(accept).map(drop).map_err(|source| ExpectedError::Io {
            what: "a thread".into(),
            action: "started",
            source,
        })
    }
}
