//! `kreplay`: hardware counters for every kernel of an unmodified GPU program in one run.
//!
//! Each subcommand has a module of its own; [`cli`] holds what the user can say, [`error`] what can go wrong and how it
//! is told, [`exit_codes`] the numbers that the command ends with.

#![forbid(unsafe_code)]

mod bench;
mod cli;
mod counters;
mod devices;
mod doctor;
mod error;
mod exit_codes;
mod libraries;
mod output;
mod plan;
mod profile;
mod report;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use error::ExpectedError;

fn main() -> ExitCode {
    ExitCode::from(code_of(run))
}

/// What the command ends with; errors are told.
fn code_of(run: impl FnOnce() -> Result<u8, ExpectedError>) -> u8 {
    // Nothing is looked at again after a panic, whose message is on stderr already.
    let done = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(ExpectedError::Internal("a panic, with the message above".into())));
    done.unwrap_or_else(|error| {
        error.tell();
        error.exit_code()
    })
}

fn run() -> Result<u8, ExpectedError> {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(done) => return done,
    };
    // Before any child is started.
    profile::hear_of_children()?;
    match cli.command {
        cli::Command::Profile(options) => profile::run(&options),
        cli::Command::Plan(options) => plan::run(&options),
        cli::Command::Counters(options) => counters::run(&options),
        cli::Command::Report(options) => report::run(&options),
        cli::Command::Doctor => doctor::run(),
        cli::Command::Bench(options) => bench::run(&options),
        cli::Command::Check(options) => profile::check(&options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_fault_of_kreplay() {
        assert_eq!(code_of(|| panic!("as the test wants")), exit_codes::INTERNAL);
        assert_eq!(code_of(|| Ok(7)), 7);
    }
}
