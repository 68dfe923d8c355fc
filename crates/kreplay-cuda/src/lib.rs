//! The CUDA backend: driver and CUPTI tables, interceptor, agent, counters.
