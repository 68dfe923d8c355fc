//! The CUDA backend: driver and CUPTI tables, interceptor, agent, counters.

mod agent;
mod counters;
mod cubin;
#[cfg(test)]
mod fake;
mod interceptor;
mod kernels;
mod offline;
mod pools;
mod tables;
#[cfg(test)]
mod test_alloc;
#[cfg(test)]
mod test_elf;
mod thread;

pub use interceptor::initialize_injection;
pub use offline::{
    CuptiInfo, DeviceInfo, Offline, OfflineError, Survey, cupti_candidates, driver_version, is_set, survey,
};
pub use tables::LoadError;
