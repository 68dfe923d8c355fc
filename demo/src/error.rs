//! What can keep the program from running.

use crate::hsa::Status;

/// What can keep the program from running.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The runtime is not installed, or another one.
    #[error("the HSA runtime cannot be used: {0}. On Debian it comes with `apt-get install libhsa-runtime64-1`")]
    Runtime(String),
    /// A call did not succeed.
    #[error("{call} failed with status {status:#x}")]
    Call {
        /// The function.
        call: &'static str,
        /// What it returned.
        status: Status,
    },
    /// No GPU that the kernels are built for.
    #[error("there is no gfx90a GPU here, and the kernels are built for that one; found: {0}")]
    NoGpu(String),
    /// The agent has no memory pool of this kind.
    #[error("the runtime offers no {0} memory")]
    NoPool(&'static str),
    /// The queue went into error: a kernel could not run to its end.
    #[error("the queue reports status {0:#x}: a kernel did not run to its end")]
    Queue(Status),
    /// A kernel did not end in time.
    #[error("{0} did not end within two minutes")]
    Stuck(&'static str),
    /// A launch completed more than once.
    #[error("the completion signal of {kernel} went from 1 to {value}: it completed more than once")]
    Completions {
        /// The kernel.
        kernel: &'static str,
        /// The signal's value, 0 after one completion.
        value: i64,
    },
}
