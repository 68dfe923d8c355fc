//! The HSA backend: tables, interceptor, agent, counters.

mod abi;
mod agent;
pub mod counters;
mod tables;

pub use agent::{HsaAgent, HsaWork};
