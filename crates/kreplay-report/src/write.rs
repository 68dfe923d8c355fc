//! Which report.

use std::io::Write;

use kreplay_store::Reader;

use crate::{Overview, ReportError, by_kernel, csv_format, json, table};

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// One row a value.
    Csv,
    /// For programs.
    Json,
}

/// What a report has one entry for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Each dispatch.
    Dispatch,
    /// Each kernel: mean, least and greatest value over its dispatches, pass by pass.
    Kernel,
}

/// How a report is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Its form.
    pub format: Format,
    /// Its entries.
    pub by: By,
    /// Columns of the terminal that a table must fit into. When `None`, it is for programs too: all columns, one line a
    /// row, as wide as it gets.
    pub width: Option<u16>,
}

/// Writes the report of a file.
///
/// # Errors
/// [`ReportError`]; part of the report may have been written.
pub fn write_report(reader: &Reader, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    let overview = Overview::of(reader)?;
    match (options.format, options.by) {
        (Format::Json, By::Dispatch) => json::dispatches(reader, &overview, out),
        (Format::Json, By::Kernel) => json::kernels(&by_kernel::collect(reader)?, &overview, out),
        (Format::Csv, By::Dispatch) => csv_format::dispatches(reader, out),
        (Format::Csv, By::Kernel) => csv_format::kernels(&by_kernel::collect(reader)?, out),
        (Format::Table, By::Dispatch) => table::dispatches(reader, &overview, options.width, out),
        (Format::Table, By::Kernel) => table::kernels(reader, &overview, options.width, out),
    }
}
