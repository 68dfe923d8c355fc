//! Handles and errors of the driver.

use std::ffi::c_void;
use std::fmt;

macro_rules! handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) *mut c_void);

        // SAFETY: an opaque number of the driver's, which takes it on any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl $name {
            /// No handle.
            #[allow(dead_code, reason = "not every handle is left out somewhere")]
            pub(crate) const NULL: Self = Self(std::ptr::null_mut());

            /// Whether it is none.
            #[allow(dead_code, reason = "not every handle is asked")]
            pub(crate) fn is_null(self) -> bool {
                self.0.is_null()
            }

            /// As a number.
            #[allow(dead_code, reason = "not every handle is shown")]
            pub(crate) fn raw(self) -> u64 {
                self.0 as u64
            }
        }
    };
}

handle!(
    /// A context.
    Context
);
handle!(
    /// A stream; null is the default stream of the launching function's kind.
    Stream
);
handle!(
    /// An event.
    Event
);
handle!(
    /// A loaded module.
    Module
);
handle!(
    /// A function of a module, or a kernel of a library: launches take either.
    Function
);

handle!(
    /// A graph's description.
    Graph
);
handle!(
    /// A node of a graph.
    GraphNode
);
handle!(
    /// A graph that can be launched.
    GraphExec
);
handle!(
    /// A memory pool.
    MemoryPool
);

impl Stream {
    /// The stream that plain functions mean by null.
    pub(crate) const LEGACY: Stream = Stream(std::ptr::without_provenance_mut(1));
    /// The stream that `_ptsz` functions mean by null.
    pub(crate) const PER_THREAD: Stream = Stream(std::ptr::without_provenance_mut(2));
}

/// A call of the driver failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CudaError {
    /// The driver's function.
    pub(crate) call: &'static str,
    /// Its status.
    pub(crate) status: i32,
    /// The status's name, where the driver knows it.
    pub(crate) name: String,
}

impl CudaError {
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub(crate) const OUT_OF_MEMORY: i32 = 2;
    /// `CUDA_ERROR_NOT_READY`: not an error, work is still running.
    pub(crate) const NOT_READY: i32 = 600;

    /// Whether the context is beyond use after this status: sticky faults of kernels, and a driver that shuts down.
    pub(crate) fn is_sticky(&self) -> bool {
        // Deinitialized, ECC, peer fault, hardware stack to invalid program counter, launch timeout, context destroyed,
        // assert, launch failure, and the newer fault classes.
        matches!(self.status, 4 | 214 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 201)
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returned {} ({})", self.call, self.name, self.status)
    }
}

impl std::error::Error for CudaError {}
