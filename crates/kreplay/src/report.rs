//! `kreplay report`.

mod destination;

use std::io;

use kreplay_report::{By, Format, Options, write_report};
use kreplay_store::Reader;

use crate::cli::{ByChoice, FormatChoice, ReportOptions};
use crate::error::ExpectedError;
use crate::output;

/// Shows a profile.
pub(crate) fn run(options: &ReportOptions) -> Result<u8, ExpectedError> {
    let reader = Reader::open(&options.file)?;
    let mut chosen = Options {
        format: match options.format {
            FormatChoice::Table => Format::Table,
            FormatChoice::Csv => Format::Csv,
            FormatChoice::Json => Format::Json,
        },
        by: match (options.by, options.format) {
            (Some(ByChoice::Dispatch), _) | (None, FormatChoice::Csv | FormatChoice::Json) => By::Dispatch,
            (Some(ByChoice::Kernel), _) | (None, FormatChoice::Table) => By::Kernel,
        },
        width: None,
    };
    let Some(path) = options.output.as_ref().filter(|path| path.as_os_str() != "-") else {
        chosen.width = output::terminal_width(&io::stdout());
        output::to_stdout(|out| write_report(&reader, &chosen, out))?;
        return Ok(0);
    };
    destination::check(path, &options.file)?;
    destination::write(path, |out| Ok(write_report(&reader, &chosen, out)?))?;
    Ok(0)
}
