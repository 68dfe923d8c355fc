//! What fences stand on, on an AMD device.

use super::Sampling;
use crate::counters::queue::PacketQueue;
use kreplay_engine::CountersError;
use kreplay_engine::sampling::Ground;
use std::time::{Duration, Instant};

/// A [`Ground`] of a device.
pub(in crate::counters) struct Device<'a, Q> {
    queue: &'a Q,
    sampling: &'a Sampling,
}

impl<'a, Q> Device<'a, Q> {
    pub(in crate::counters) fn new(queue: &'a Q, sampling: &'a Sampling) -> Self {
        Self { queue, sampling }
    }
}

impl<Q: PacketQueue> Ground for Device<'_, Q> {
    type Error = CountersError;

    fn idle(&mut self) -> Result<(), CountersError> {
        self.queue.idle()
    }

    fn now(&mut self) -> u64 {
        self.sampling.source.clock()
    }

    fn submissions(&mut self) -> u64 {
        self.queue.submissions()
    }

    /// Without giving the processor away for long: gaps are some microseconds.
    fn pass(&mut self, time: Duration) {
        let start = Instant::now();
        if time > Duration::from_millis(1) {
            std::thread::sleep(time);
        }
        while start.elapsed() < time {
            std::thread::yield_now();
        }
    }
}
