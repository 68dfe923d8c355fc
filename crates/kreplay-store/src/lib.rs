//! The `.kreplay` file: one run of the command, with all processes of the job, in one SQLite database.
//!
//! The schema stands in [`SCHEMA`], the words for its columns in `docs/file.md`.
//!
//! # Writing
//!
//! [`Writer`] is the only writer. It keeps the file locked while it runs, and holds what it was given in a write-ahead
//! log beside the file (`FILE-wal`) until the run ends; then the log is gone and the file stands alone. What was
//! committed survives the death of the writer at any moment.
//!
//! # Reading
//!
//! [`Reader`] never writes to a file, nor beside it. A file whose writer died (or still runs) has its log beside it:
//! the reader then reads a copy of both in a private directory. Before any content is looked at, the header must be
//! that of a kreplay file of a known version ([`StoreVersion`]), the database must be whole, and every table must be
//! as this version defines it; so a foreign, newer, damaged or crafted file is an error and nothing else.

#![forbid(unsafe_code)]

mod claim;
mod error;
mod header;
mod names;
mod reader;
mod replaced;
mod rows;
mod schema;
mod side_files;
mod turn;
mod version;
mod writer;

pub use error::StoreError;
pub use header::is_kreplay_file;
pub use names::{outcome_name, way_name, window_kind_name};
pub use reader::Reader;
pub use rows::{
    AgentRow, CounterRow, DispatchRow, PlanPassRow, ProcessRow, ProcessState, ReadingRow, RunRow, RunState, WarningRow,
    WindowRow,
};
pub use schema::SCHEMA;
pub use version::{APPLICATION_ID, STORE_VERSION, StoreVersion};
pub use writer::{Draft, Existing, ProcessEnd, ProcessId, RunEnd, RunInfo, Writer};
