//! What the injected library's entry points do.

use super::forked::tell_children;
use super::guard;
use super::install::install;
use super::state::{Backend, backend, put};
use crate::tables::{Api, open};
use kreplay_session::{Session, attach};
use std::ffi::c_void;
use std::sync::Arc;

/// `OnLoad` of a tool of the HSA runtime. `false`: nothing was touched, and the program runs unprofiled.
///
/// # Safety
/// `table` is what the runtime passes to `OnLoad`, and the library that this is linked into stays loaded until the
/// process ends.
pub unsafe fn on_load(table: *mut c_void) -> bool {
    if let Some(backend) = backend() {
        // The runtime was shut down and started again: its tables are new, the engines' handles are not.
        guard("OnLoad", || started_again(backend), || ());
        return false;
    }
    let session = match attach(kreplay_session::Backend::Hsa, crate::thread::start) {
        Ok(Some(session)) => session,
        // Nobody asked for a profile here, or nobody listens any more.
        Ok(None) | Err(_) => return false,
    };
    // SAFETY: the caller's.
    guard("OnLoad", || unsafe { start(table, session) }, || false)
}

/// Says that kernels are not profiled from now on. The first session has ended as a rule, or is a forked child's parent's.
fn started_again(backend: &Backend) {
    let message = if backend.is_forked() {
        "the HSA runtime was started in a forked child of a process that had used it; kernels of the child are not profiled"
    } else {
        "the HSA runtime was started a second time in this process; kernels from then on are not profiled"
    };
    if backend.session.alive() {
        return backend.session.warn("restarted", message.into());
    }
    if let Ok(Some(session)) = attach(kreplay_session::Backend::Hsa, crate::thread::start) {
        session.warn("restarted", message.into());
        session.finish();
    }
}

unsafe fn start(table: *mut c_void, session: Arc<Session>) -> bool {
    // SAFETY: the caller's.
    let opened = unsafe { open(table.cast()) }.and_then(|tables| Ok((tables, Api::save(&tables)?)));
    let (tables, api) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            session.warn("tables", format!("{error}; this process goes on unprofiled"));
            return false;
        }
    };
    if !put(Backend::new(api, Arc::clone(&session))) {
        return false;
    }
    let unknown = tables.unknown();
    if unknown != 0 {
        let message = format!(
            "the HSA runtime has {unknown} functions that this kreplay does not know: what they write, or hand to others, is not seen"
        );
        session.warn("newer_runtime", message);
    }
    // SAFETY: the tables were checked and the state is in place.
    unsafe { install(&tables) };
    if !tell_children() {
        let message = "forked children cannot be told that they are: one that uses the HSA runtime may hang";
        session.warn("forks", message.into());
    }
    // SAFETY: the function stays loaded. It runs before the destructors of the runtime, which was loaded earlier.
    unsafe { libc::atexit(at_exit) };
    true
}

extern "C" fn at_exit() {
    on_unload();
}

/// `OnUnload`: the runtime shuts down, or the process exits. Safe to call at any time and any number of times.
pub fn on_unload() {
    if let Some(backend) = backend() {
        guard("the program's end", || backend.finish(), || ());
    }
}
