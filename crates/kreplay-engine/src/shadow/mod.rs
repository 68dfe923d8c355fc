//! A retained copy of the regions, kept in step with them from window to window.
//!
//! Each captured region has one *entry*: backing of its own, in device memory where the reserve allows, else in host
//! staging, else the dispatch declines `no_backing`. The fallback is not sticky: a later, smaller region may still go
//! to the device. An entry belongs to one generation of its region and is gone with it.
//!
//! What lies in an entry is *unknown* (just placed, or a copy into it failed), or *known*: it was equal to memory when
//! the last window closed. Nothing here is believed by default; `--shadow trusted` believes it, but for ranges that
//! somebody is known to have written since.
//!
//! Of an entry in the host tier the hashes of its chunks are kept, so that finding what differs does not read it across the
//! link. With full restore an entry is copied whole out and back at every window, and its host storage goes back to the pool
//! between windows.

mod digests;
mod entries;
mod footprint;
mod stale;
mod write_set;

pub(crate) use digests::{Digests, whole_chunks};
pub(crate) use entries::{Placing, Shadow, Unplaced};
pub(crate) use footprint::{Footprint, Selected, Tracked};
pub(crate) use stale::StaleLog;
pub(crate) use write_set::{WriteSet, first_marked, marked_bytes, marked_ranges};
