//! A session against a command that this test plays.

mod command;
mod handshake;
mod records;
