//! Batch windows: what goes in, what closes them, who counts, and failure at every step.

mod changed;
mod closing;
mod ending;
mod escapes;
mod failure;
mod faults;
mod finding;
mod gone;
mod memory;
mod overdue;
mod random_programs;
mod selection;
mod setup;
mod submissions;
#[path = "../support/mod.rs"]
mod support;
mod threads;
