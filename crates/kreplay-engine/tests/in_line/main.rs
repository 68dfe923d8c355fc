//! Batch windows of a single pass: the program's own launches are counted, and nothing is kept.

mod counting;
mod failure;
mod fences;
mod setup;
#[path = "../support/mod.rs"]
mod support;
