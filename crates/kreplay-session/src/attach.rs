//! The one session of a process.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use kreplay_protocol::SOCKET_VARIABLE;

use crate::{Backend, Session, SessionError, StartThread, thread};

static ATTACHED: Mutex<Option<(Backend, Arc<Session>)>> = Mutex::new(None);

/// The session of this process for `backend`, from the socket in the environment. A second call for the same backend
/// gives the same session, or a new one when the first has finished (a runtime that was shut down and started again).
/// `Ok(None)`: nobody asked for a profile, or it is another backend's. Threads are started by `start`.
///
/// # Errors
/// [`SessionError`]; the program goes on unprofiled.
pub fn attach(backend: Backend, start: StartThread) -> Result<Option<Arc<Session>>, SessionError> {
    let Some(path) = std::env::var_os(SOCKET_VARIABLE).filter(|path| !path.is_empty()) else { return Ok(None) };
    thread::start_by(start);
    let mut attached = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, session)) = attached.as_ref()
        && (*owner != backend || session.alive())
    {
        return Ok((*owner == backend).then(|| Arc::clone(session)));
    }
    let Some(session) = Session::connect(&PathBuf::from(path), backend)? else { return Ok(None) };
    let session = Arc::new(session);
    *attached = Some((backend, Arc::clone(&session)));
    Ok(Some(session))
}
