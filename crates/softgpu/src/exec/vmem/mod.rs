//! Vector memory: flat, global, scratch and buffer instructions, and LDS.

mod access;
mod address;
mod atomic;
mod buffer;
mod conflicts;
mod crossbar;
mod flat;
mod lds;
mod lds_atomic;
mod lines;
mod shape;

pub(super) use buffer::buffer;
pub(super) use conflicts::Conflicts;
pub(super) use flat::flat;
pub(super) use lds::lds;
pub(super) use lines::Lines;
