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

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::parse() {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    let done = match cli.command {
        cli::Command::Profile(options) => profile::run(&options),
        cli::Command::Plan(options) => plan::run(&options),
        cli::Command::Counters(options) => counters::run(&options),
        cli::Command::Report(options) => report::run(&options),
        cli::Command::Doctor => doctor::run(),
        cli::Command::Bench(options) => bench::run(&options),
        cli::Command::Check(options) => profile::check(&options),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            error.tell();
            ExitCode::from(error.exit_code())
        }
    }
}
