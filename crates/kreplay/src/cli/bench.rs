//! `kreplay bench`.

use clap::{Args, ValueEnum};

/// Measure parts of kreplay on this machine.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// What to measure.
    #[arg(value_enum)]
    pub(crate) subject: Subject,
    /// One JSON object a line, as kept under bench/results.
    #[arg(long)]
    pub(crate) json: bool,
    /// How often each case is measured.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeats: u32,
}

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Subject {
    /// Getting host storage for a snapshot: fresh against retained.
    Staging,
    /// The engine's own cost for each window and pass, on an agent in memory.
    Engine,
}
