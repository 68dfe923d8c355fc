//! Why a report could not be made.

use kreplay_store::StoreError;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report could not be written.
    #[error("the report could not be written: {0}")]
    Output(#[from] std::io::Error),
}

impl From<serde_json::Error> for ReportError {
    fn from(error: serde_json::Error) -> Self {
        ReportError::Output(error.into())
    }
}

impl From<csv::Error> for ReportError {
    fn from(error: csv::Error) -> Self {
        ReportError::Output(std::io::Error::other(error))
    }
}
