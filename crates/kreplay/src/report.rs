//! `kreplay report`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

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
    let Some(path) = &options.output else {
        chosen.width = output::terminal_width(&io::stdout());
        output::to_stdout(|out| write_report(&reader, &chosen, out))?;
        return Ok(0);
    };
    let failed = |source| ExpectedError::Io { what: path.display().to_string(), action: "written", source };
    if same_file(path, &options.file) {
        return Err(ExpectedError::Usage {
            what: format!("{} is the profile itself", path.display()),
            hint: "write the report to another file".into(),
        });
    }
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    write_report(&reader, &chosen, &mut out)?;
    out.flush().map_err(failed)?;
    Ok(0)
}

fn same_file(one: &std::path::Path, other: &std::path::Path) -> bool {
    matches!((std::fs::canonicalize(one), std::fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
