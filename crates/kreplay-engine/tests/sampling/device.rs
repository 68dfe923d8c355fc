//! A device that runs dispatches one after another and streams samples.

use kreplay_engine::sampling::{Fence, Interval};
use std::ops::Range;

/// What ran from `start` to `end` and moved the marker by `marker` and another unit's counter, which lags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) count: u64,
    /// How much later the other unit counts, in nanoseconds.
    pub(crate) lag: u64,
}

/// The timeline of one pass.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) interval: u64,
    /// Idle time on either side of a dispatch.
    pub(crate) gap: u64,
    pub(crate) now: u64,
    pub(crate) ran: Vec<Ran>,
    pub(crate) fences: Vec<Fence>,
    pub(crate) others: Vec<Fence>,
    /// How much later than at [`Device::boundary`] samples end, in nanoseconds.
    pub(crate) shifted: u64,
}

pub(crate) struct Samples {
    pub(crate) intervals: Vec<Interval>,
    marker: Vec<u64>,
    lagging: Vec<u64>,
}

impl Device {
    pub(crate) fn new(interval: u64) -> Self {
        let gap = interval * 3;
        Self { interval, gap, now: 1_000_000, ran: Vec::new(), fences: Vec::new(), others: Vec::new(), shifted: 0 }
    }

    /// A fenced dispatch of `length` ns, submitted `wait` ns after the fence was taken.
    pub(crate) fn dispatch(&mut self, length: u64, count: u64, wait: u64) -> &mut Self {
        self.now += self.gap;
        let from = self.now;
        let start = from + wait;
        self.now = start + length + 10;
        self.ran.push(Ran { start, end: start + length, count, lag: self.interval });
        self.fences.push(Fence { from, to: self.now });
        self.now += self.gap;
        self
    }

    /// Something else, outside of every fence, told or not.
    pub(crate) fn other(&mut self, length: u64, told: bool) -> &mut Self {
        let start = self.now;
        self.now += length;
        // Every sample of it moves the marker.
        let count = 777 + 4 * (length / self.interval + 2);
        self.ran.push(Ran { start, end: self.now, count, lag: 0 });
        if told {
            self.others.push(Fence { from: start, to: self.now });
        }
        self
    }

    /// When the first sample begins, and others end.
    pub(crate) fn boundary(&self) -> u64 {
        1_000_000 - self.interval * 20 - 137
    }

    /// What the hardware streams, from a little before until a little behind. Long stretches of idleness are one interval
    /// each time, as many as fit.
    pub(crate) fn sample(&self) -> Samples {
        let begin = self.boundary() + self.shifted;
        let samples = ((self.now - begin) / self.interval + 20) as usize;
        let at = |index: usize| begin + index as u64 * self.interval;
        let mut marker = vec![0; samples];
        let mut lagging = vec![0; samples];
        let place = |time: u64| ((time - begin) / self.interval) as usize;
        for ran in &self.ran {
            let range = place(ran.start)..place(ran.end.max(ran.start + 1) - 1) + 1;
            spread(&mut marker, range.clone(), ran.count);
            let late = (ran.lag / self.interval) as usize;
            spread(&mut lagging, range.start + late..range.end + late, ran.count * 3);
        }
        let interval = |index: usize| Interval { start: at(index), end: at(index + 1), active: marker[index] > 0 };
        Samples { intervals: (0..samples).map(interval).collect(), marker, lagging }
    }
}

/// Puts `count` into these samples, at least 1 in each.
fn spread(samples: &mut [u64], range: Range<usize>, count: u64) {
    let places = range.len() as u64;
    for sample in &mut samples[range.clone()] {
        *sample += count / places;
    }
    samples[range.start] += count % places;
}

impl Samples {
    /// The sums over these intervals, of the marker and of the lagging counter.
    pub(crate) fn sums(&self, range: &Range<usize>) -> (u64, u64) {
        (self.marker[range.clone()].iter().sum(), self.lagging[range.clone()].iter().sum())
    }
}
