//! A GPU that others use too: one window at a time across processes, whose work is counted, and who comes meanwhile.

pub(in crate::counters) mod alone;
pub(in crate::counters) mod busy;
mod company;
pub(in crate::counters) mod lock;
mod patience;
pub(in crate::counters) mod reach;
pub(in crate::counters) mod watch;

#[cfg(test)]
mod reach_gpu_tests;
