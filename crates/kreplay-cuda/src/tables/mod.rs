//! The vendor's libraries, declared by hand and loaded at run time. Nothing of the vendor's is needed to build.
//!
//! Layouts come from the published ABI: every structure asserts its size and the offset of each member at compile time,
//! and is passed with the *oldest* size that a library accepts, since newer libraries go on accepting it.

mod abi;
mod box_calls;
pub(crate) mod callback;
mod cupti;
pub(crate) mod cupti_sampling;
mod cupti_status;
pub(crate) mod cupti_structs;
mod driver;
mod driver_calls;
pub(crate) mod driver_structs;
mod driver_types;
mod find;
pub(crate) mod foreign_structs;
mod functions;
mod graph_calls;
pub(crate) mod graph_structs;
mod library;
mod nvml;
mod pool_calls;

#[cfg(test)]
pub(crate) use cupti::{Callback, CuptiTable};
pub(crate) use cupti::{Cupti, optional_call, profiler_call};
pub(crate) use cupti_status::{CuptiError, CuptiStatus};
#[cfg(test)]
pub(crate) use driver::DriverTable;
pub(crate) use driver::{Driver, MemoryPlace, Progress, device_attribute};
pub(crate) use driver_types::{
    Context, CudaError, Event, Function, Graph, GraphExec, GraphNode, MemoryPool, Module, Stream,
};
pub(crate) use find::{Environment, FoundCupti, find_cupti};
pub use library::LoadError;
pub(crate) use nvml::{Nvml, Processes};
pub(crate) use pool_calls::pool_attribute;
