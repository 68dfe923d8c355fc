//! The HSA backend: tables, interceptor, agent, counters.

pub mod counters;
