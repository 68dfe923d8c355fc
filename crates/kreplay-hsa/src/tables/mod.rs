//! The runtime's API tables: which versions are known, where their functions stand, and how ours are put in.
//!
//! A table begins with its version: `major_id` names a layout, `minor_id` is the table's size in the running runtime. A
//! slot is touched only when the major is known and the slot lies inside the size. Functions of the core table never
//! moved; the AMD extension has two layouts (ROCr 5.2's major 1, and major 2 of ROCm 6 and 7, which put functions in the
//! middle). Runtimes between them called a third layout major 1 too: they are told by their size and refused.

mod api;
#[cfg(test)]
mod audit;
mod error;
mod layout;
mod slot;

pub(crate) use api::*;
pub use error::TablesError;
use layout::AmdLayout;
#[cfg(test)]
use layout::KNOWN;
pub(crate) use layout::{RawTables, open};
#[cfg(test)]
pub(crate) use slot::Slot;
