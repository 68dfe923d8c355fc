//! `kreplay report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Show a profile.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The profile.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// In which form. CSV and JSON are described in docs/file.md.
    #[arg(long, value_enum, default_value_t = FormatChoice::Table)]
    pub(crate) format: FormatChoice,
    /// One entry for what. Without it: `kernel` for tables, `dispatch` for CSV and JSON.
    #[arg(long, value_enum)]
    pub(crate) by: Option<ByChoice>,
    /// Write to this file instead of stdout (`-`); an existing one is replaced, unless it is a profile.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatChoice {
    /// For people.
    Table,
    /// One row a value.
    Csv,
    /// For programs.
    Json,
}

/// What a report has one entry for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByChoice {
    /// Each dispatch.
    Dispatch,
    /// Each kernel, with mean, min and max over its dispatches.
    Kernel,
}
