//! `kreplay bench`.

use crate::cli::{BenchOptions, Subject};
use crate::error::ExpectedError;

/// Measures.
pub(crate) fn run(options: &BenchOptions) -> Result<u8, ExpectedError> {
    let what = match options.subject {
        Subject::Staging => "bench staging",
        Subject::Engine => "bench engine",
    };
    Err(ExpectedError::NotImplemented { what: what.into(), hint: "it needs the engine's staging pool".into() })
}
