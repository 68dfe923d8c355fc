//! Why memory calls are refused.

/// Why a memory call was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The device's limit is reached.
    #[error("{asked} bytes of device memory were asked for, {free} of {limit} are free; raise SOFTGPU_MEMORY_MIB")]
    OutOfDeviceMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes free.
        free: u64,
        /// The device's limit.
        limit: u64,
    },
    /// The host refused.
    #[error("the host gave no memory for {asked} bytes: {why}")]
    OutOfHostMemory {
        /// Bytes asked for.
        asked: u64,
        /// The host's words.
        why: String,
    },
    /// Nothing is known at this address.
    #[error("{0:#x} is the start of no allocation or registration")]
    Unknown(u64),
    /// Memory that cannot be shared.
    #[error("the memory at {address:#x} cannot be shared between processes: {why}")]
    CannotShare {
        /// Its address.
        address: u64,
        /// Why.
        why: String,
    },
    /// Memory of another process that cannot be had.
    #[error("the memory of process {process} cannot be mapped: {why}")]
    NotShared {
        /// The process.
        process: u32,
        /// The host's words.
        why: String,
    },
    /// A size of zero or past the end of the address space.
    #[error("{bytes} bytes at {address:#x} are no range")]
    BadRange {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
}
