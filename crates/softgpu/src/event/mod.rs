//! Events: how the GPU wakes threads that wait for it.
//!
//! An event has a number and a **mailbox**, a word that the GPU writes the number to before it raises the interrupt;
//! ROCr keeps both in each of its signals. An auto-reset event that is raised wakes everybody who waits on it, and stays
//! raised for one later waiter only when nobody does. Each raise makes the event one older (its *age*), so that a
//! waiter never misses one that falls between two of its looks, also when another thread took it: that wakes a thread once for
//! nothing at times, where the driver would let it sleep for ever.

mod looks;
mod mailbox;
mod table;

pub use mailbox::Mailboxes;
pub use table::{EventError, EventKind, Events, MemoryFault, Raised};

/// Events that a process can have; the limit of the real driver.
pub const MAX_EVENTS: u32 = 4096;
