//! The HSA backend: tables, interceptor, agent, counters.
