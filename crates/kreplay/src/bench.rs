//! `kreplay bench`: measurements on this machine, as text or as the JSON lines that `bench/results` keeps.

mod engine;
mod row;
mod staging;
mod stamp;

use crate::cli::{BenchOptions, Subject};
use crate::error::ExpectedError;
use crate::output;

use row::Row;
use stamp::Stamp;

/// Measures and writes one line a row.
pub(crate) fn run(options: &BenchOptions) -> Result<u8, ExpectedError> {
    let stamp = Stamp::of_this_machine();
    if cfg!(debug_assertions) {
        output::note(
            "kreplay: this is a debug build; its times say little. Use `cargo run --release -p kreplay -- bench`",
        );
    }
    output::to_stdout(|out| {
        let mut show = |row: &Row| {
            let text = if options.json { row.json(&stamp) } else { row.line() };
            writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|source| ExpectedError::Io {
                what: "stdout".into(),
                action: "written",
                source,
            })
        };
        match options.subject {
            Subject::Staging => staging::run(options.repeats, &mut show),
            Subject::Engine => engine::run(options.repeats, &mut show),
        }
    })?;
    Ok(0)
}
