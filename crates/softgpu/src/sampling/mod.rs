//! Counters as a stream of samples: what fenced sampling is tested against.
//!
//! The interface is the software GPU's own. A *group* of events, as many of each block as it has slots, is programmed; then,
//! while sampling is on, there is one sample an interval of device time, idle or not, with what every event of the group
//! counted in it, summed over all instances. Samples go into a buffer of a given size; what does not fit is lost and
//! counted.
//!
//! Device time is that of dispatch timestamps ([`now_ns`](crate::device::now_ns)): it goes on while the device is idle, so
//! that gaps between dispatches are real. What a dispatch counts depends on its instructions alone, and is spread evenly
//! over the time that it ran; so where an interval begins differs from run to run, and the sum over a dispatch never.
//!
//! [`crate::fault`] lists what can go wrong: runs that merge, lost samples, stray activity, a programming that does not
//! take.

mod sampler;
mod spread;

pub use sampler::{ConfigureError, Running, Sample, Sampler};
