//! Tables, CSV and JSON from a `.kreplay` file.
//!
//! Every format shows the same things: dispatches one by one, or kernels with the mean, least and greatest value over
//! their dispatches. Passes are never combined with each other: every value has its pass beside it, or once above the
//! table where all have the same. Simulated values are called simulated, derived ones derived, approximate ones approximate
//! with the bound of their error, and every decline has its reason.
//!
//! JSON and CSV are interfaces; they are described in `docs/file.md`, and a change of either raises [`JSON_VERSION`].

#![forbid(unsafe_code)]

mod by_kernel;
mod csv_format;
mod error;
mod json;
mod overview;
mod table;
mod text;
mod write;

pub use error::ReportError;
pub use json::JSON_VERSION;
pub use overview::Overview;
pub use table::write_summary;
pub use write::{By, Format, Options, write_report};
