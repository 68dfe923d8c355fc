//! What the user can say.

mod bench;
mod counters;
mod profile;
mod report;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use bench::{BenchOptions, Subject};
pub(crate) use counters::{CheckOptions, CountersOptions, PlanOptions};
pub(crate) use profile::{
    CacheChoice, FenceChoice, LogChoice, ProfileOptions, ReachChoice, RestoreChoice, ShadowChoice, VerifyChoice,
    WindowKindChoice,
};
pub(crate) use report::{ByChoice, FormatChoice, ReportOptions};

use crate::error::ExpectedError;
use crate::exit_codes;

/// Hardware counters for every kernel of an unmodified GPU program in one run.
#[derive(Debug, Parser)]
#[command(name = "kreplay", version, about, after_help = exit_codes::HELP, max_term_width = 120)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program and profile its kernels.
    ///
    /// Every kernel is run once for each group of counters, from the same memory each time; the program sees one run. Its
    /// stdin, stdout and stderr are its own; kreplay speaks on stderr. Processes that the program starts are profiled too.
    Profile(Box<ProfileOptions>),
    /// Say which counters would go into which pass, without running anything.
    Plan(PlanOptions),
    /// List what can be counted.
    Counters(CountersOptions),
    /// Show a profile.
    Report(ReportOptions),
    /// Say what was found on this machine, what is missing, and how to get it.
    Doctor,
    /// Measure parts of kreplay on this machine.
    Bench(BenchOptions),
    /// Check a request before its program runs; `profile` calls it.
    #[command(hide = true)]
    Check(CheckOptions),
}

/// Which device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    /// The GPU that is there; the software GPU where there is none.
    Auto,
    /// The software GPU: no hardware needed, counters are simulated.
    Soft,
    /// AMD GPUs, through the HSA runtime.
    Hsa,
    /// NVIDIA GPUs, through CUDA.
    Cuda,
}

/// Reads the command line.
///
/// # Errors
/// What the command ends with, after clap has said what is wrong, or has shown what was asked for (help, version).
pub(crate) fn parse() -> Result<Cli, Result<u8, ExpectedError>> {
    Cli::try_parse().map_err(|error| match error.print() {
        // Nothing can be done about a closed terminal.
        _ if error.use_stderr() => Ok(exit_codes::USAGE),
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(ExpectedError::Io { what: "stdout".into(), action: "written", source })
        }
        _ => Ok(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn limits_are_told_as_they_are() {
        let limits = kreplay_engine::Settings::default();
        let help = Cli::command().find_subcommand_mut("profile").expect("a command").render_long_help().to_string();
        for (option, default) in [
            ("--device-reserve", limits.device_reserve >> 20),
            ("--host-budget", limits.host_budget >> 20),
            ("--chunk", limits.chunk.bytes()),
        ] {
            let text = help.lines().skip_while(|line| !line.contains(option)).nth(1).expect("its text");
            assert!(text.ends_with(&format!("Without it: {default}")), "{option}: {text}");
        }
    }

    #[test]
    fn a_programs_own_options_are_its_own() {
        let cli = Cli::try_parse_from(["kreplay", "profile", "-c", "A,B", "--", "prog", "-c", "--help"]).unwrap();
        let Command::Profile(options) = cli.command else { panic!("not a profile") };
        assert_eq!(options.program, ["prog", "-c", "--help"]);
        assert_eq!(options.counters, ["A", "B"]);
    }

    #[test]
    fn a_program_is_needed() {
        assert!(Cli::try_parse_from(["kreplay", "profile", "-c", "A"]).is_err());
    }

    #[test]
    fn counters_and_a_set_exclude_each_other() {
        assert!(Cli::try_parse_from(["kreplay", "profile", "-c", "A", "--set", "basic", "--", "p"]).is_err());
    }
}
