//! Why the tables cannot be used.

/// Why this process cannot be profiled through HSA.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum TablesError {
    /// The runtime passed no table.
    #[error("the HSA runtime handed over no {table} table; this runtime is not supported")]
    Missing {
        /// Which.
        table: &'static str,
    },
    /// A table's version is not known.
    #[error(
        "the HSA runtime's {table} table has version {major} and {bytes} bytes, which this kreplay does not know; \
         known are ROCr 5.2 and ROCm 6 and 7"
    )]
    Unknown {
        /// Which.
        table: &'static str,
        /// Its major version.
        major: u32,
        /// Its size in bytes.
        bytes: u32,
    },
    /// A function that is needed is not there.
    #[error("the HSA runtime has no {function}; this runtime is too old")]
    Function {
        /// The function.
        function: &'static str,
    },
}
