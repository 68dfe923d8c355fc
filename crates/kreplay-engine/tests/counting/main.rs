//! Policy and counters: who is asked what, in which order, and what a failure of theirs costs.

mod failure;
mod policy;
mod readings;
mod setup;
#[path = "../support/mod.rs"]
mod support;
