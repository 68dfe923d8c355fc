//! What the end-to-end tests are made of.
//!
//! A test program (`tests/programs/*.hip`) knows nothing of kreplay: it runs kernels, checks their results against the
//! host and prints one line a kernel. The suites (`tests/suites`) build each with hipcc at every level of optimisation,
//! run it plain and under `kreplay profile` on the software GPU, and compare what the two printed.

#![forbid(unsafe_code)]

mod hipcc;
mod locate;
mod oracle;
mod process;
mod profile;
mod program;
pub mod readers;
mod skip;
mod window_write_set;
mod write_set;

pub use hipcc::{OPTIMISATIONS, build, build_library};
pub use locate::{binary, build_folder, library};
pub use oracle::{OracleLine, read_oracle};
pub use process::{DEADLINE, Ended, run};
pub use profile::{Profile, Profiled, dispatches, plain};
pub use program::{Program, part, program, programs};
pub use skip::{missing, skipped};
pub use window_write_set::compare_window_write_sets;
pub use write_set::compare_write_sets;
