//! What every backend needs inside the profiled program: the command's settings, the link to it, and the recorder that
//! the engine talks to.
//!
//! ```text
//!   backend ── attach(backend) ──▶ Session ── settings(), engine_settings(), filter(), recorder()
//!   engine ─── Recorder ─────────▶ numbers for names, messages ──▶ Link ──▶ socket ──▶ kreplay command
//! ```
//!
//! # What a backend does
//!
//! 1. When it is loaded: [`attach()`]. `Ok(None)` or an error: do nothing in this process, intercept nothing.
//! 2. Make the engine with [`Session::engine_settings`], [`Session::filter`] and [`Session::recorder`].
//! 3. Before any other work of an interceptor: [`Session::alive`], one relaxed load. Once it is false it stays false:
//!    the command is gone, and the program goes on unprofiled.
//! 4. When the program ends (`atexit`, the tool's unload function): let the engine close its windows and the counters
//!    flush, then [`Session::finish`].
//!
//! # Promises
//!
//! * Nothing here panics, prints (but log lines to stderr when the settings ask for them), raises a signal or ends the
//!   process. A write to a closed socket raises no `SIGPIPE`.
//! * A record goes into the socket before the call that reports it returns, as long as the command keeps up; it then
//!   survives the death of this process. When the command does not keep up, records wait in memory ([`QUEUE_BYTES`]),
//!   and one thread, started only then, passes them on. When that is full too the program waits. A command that takes
//!   nothing for [`STALL`] is given up for dead.
//! * A forked child says nothing: it locks nothing of its parent's and neither writes into nor ends its connection. What a
//!   program that a child executes says goes through a connection of its own.

#![forbid(unsafe_code)]

mod attach;
mod connection;
mod convert;
mod demangle;
mod error;
mod filter;
mod handshake;
mod intern;
mod link;
mod loader;
mod log;
mod recorder;
mod session;
mod settings;
mod thread;

pub use attach::attach;
pub use demangle::demangle;
pub use error::SessionError;
pub use filter::NameFilter;
pub use link::{QUEUE_BYTES, STALL};
pub use loader::{loader_is_free, spare_the_loader};
pub use recorder::SessionRecorder;
pub use session::{Backend, Session};
pub use thread::StartThread;
