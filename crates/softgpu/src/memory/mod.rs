//! The GPU's view of this process's memory: what is allocated, what is mapped, who wrote what.
//!
//! A GPU address is a host address. What tells them apart is the **mapping table**: a dispatch or a copy may touch
//! exactly the pages that are mapped for the GPU at the time. Everything else is a memory fault, as on a real GPU; but one
//! that faults pages in (`HSA_XNACK=1`) reaches all of the process's memory.
//!
//! - [`AddressSpace`] owns allocations and registrations and publishes a sorted [`Table`] after every change.
//! - A [`View`] is one reader's hold on such a table: while it lives, what the table maps stays in memory. So a range
//!   that is freed while a dispatch runs faults for every later dispatch, and is given back to the host when the running
//!   one ends.
//! - A [`Recorder`] keeps what a dispatch overwrote: the write oracle.

mod allocation;
mod backing;
mod error;
mod look;
mod process;
mod recorder;
mod registration;
mod share;
mod space;
mod store;
mod table;
mod view;

pub use allocation::{Allocation, MemoryKind, PointerInfo};
pub use error::MemoryError;
pub use look::MemoryCounts;
pub use recorder::{Page, Range, Recorder, WriteSet};
pub use share::SharedHandle;
pub use space::AddressSpace;
pub use table::{Entry, Table};
pub use view::View;
