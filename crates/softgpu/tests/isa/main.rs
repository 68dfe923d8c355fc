//! The decoder against LLVM's assembler, and against words that were assembled before.

#![allow(unreachable_pub)] // a test is a crate of its own; nothing in it can be reached from outside

mod fixtures;
mod random;
mod round_trip;
