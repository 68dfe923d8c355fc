//! Checking that every pass did the same work.
//!
//! *Outputs*: after each pass what pass 0 wrote is hashed on the device. The answers are asked for together, when the
//! window has to wait anyway; a pass whose hashes differ from pass 0's is divergent, and the first differing chunk is
//! named. *Escapes*: chunks outside the write set that differ from the snapshot; they are found by the compares that keep
//! memory right in any case (see [`crate::window`]), so they are found with `--verify off` too.

mod outputs;

pub(crate) use outputs::{Outputs, wrong_answer};
