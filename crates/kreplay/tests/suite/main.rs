//! The built command with real processes, one module for each thing that a user does or suffers.

mod commands;
mod common;
mod errors;
mod profile;
mod replacing;
mod signals;
mod survival;
