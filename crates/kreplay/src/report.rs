//! `kreplay report`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kreplay_report::{By, Format, Options, write_report};
use kreplay_store::{Reader, is_kreplay_file};

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
    let taken = if same_file(path, &options.file) {
        Some("the profile itself")
    } else {
        is_kreplay_file(path).then_some("a profile, which a report does not replace")
    };
    if let Some(taken) = taken {
        return Err(ExpectedError::Usage {
            what: format!("{} is {taken}", path.display()),
            hint: "write the report to another file".into(),
        });
    }
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    write_report(&reader, &chosen, &mut out)?;
    out.flush().map_err(failed)?;
    Ok(0)
}

/// Whether both names lead to one file, through links of either kind.
fn same_file(one: &Path, other: &Path) -> bool {
    let which = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((which(one), which(other)), (Ok(one), Ok(other)) if one == other)
}
