//! The sampler of one device.

use super::spread::Pending;
use crate::contract::ExecStats;
use crate::fault::{Faults, SamplingFault};
use crate::pmc::{Block, BlockId, EVENTS, Spread, find_event};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Intervals behind its end in which the stray activity of a fault comes.
const STRAY: u64 = 2;

/// One sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Device clock, in nanoseconds.
    pub start: u64,
    /// Device clock, in nanoseconds.
    pub end: u64,
    /// Which programming counted it.
    pub configuration: u64,
    /// Nanoseconds in which something ran on the device.
    pub busy: u64,
    /// What each event counted, summed over all instances.
    pub values: Vec<u64>,
}

/// Why a group cannot be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigureError {
    /// No such event is simulated.
    #[error("block {block} has no event {event}")]
    Unknown {
        /// The block's number.
        block: u32,
        /// The event's.
        event: u32,
    },
    /// More events of a block than it has slots.
    #[error("block {block} has {slots} slots")]
    Slots {
        /// The block's number.
        block: u32,
        /// Its slots.
        slots: u32,
    },
    /// Sampling is on.
    #[error("sampling is on")]
    Running,
    /// An interval of less than a microsecond, or no room for a sample.
    #[error("an interval lasts a microsecond at least, and the buffer holds a sample at least")]
    Size,
}

/// A dispatch that runs; dropped without [`Sampler::ended`] it counts nothing.
#[derive(Debug)]
pub struct Running<'a> {
    sampler: &'a Sampler,
    id: u64,
    began: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.sampler.lock().running.remove(&self.id);
    }
}

/// The sampler. All methods may be called from any thread.
#[derive(Debug)]
pub struct Sampler {
    clock: fn() -> u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The group as it was asked for.
    asked: usize,
    /// What the hardware counts: places in [`EVENTS`].
    programmed: Vec<usize>,
    configuration: u64,
    configured: u64,
    interval: u64,
    capacity: usize,
    on: bool,
    /// Where the next sample begins.
    next: u64,
    pending: Pending,
    /// When the dispatches began that run.
    running: BTreeMap<u64, u64>,
    runs: u64,
    /// A dispatch whose counts run together with the next one's.
    merging: Option<(u64, Vec<u64>)>,
    buffer: VecDeque<Sample>,
    lost: u64,
}

impl Sampler {
    /// A sampler that is off, with this clock.
    pub fn new(clock: fn() -> u64) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// The device's clock.
    pub fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Programs a group of events, each a block's number and the event's in it. Samples are `interval` nanoseconds long; the
    /// buffer holds `capacity` of them. Returns the programming's number, which its samples carry.
    ///
    /// # Errors
    /// [`ConfigureError`]; the group before stays programmed.
    pub fn configure(
        &self,
        events: &[(u32, u32)],
        interval: u64,
        capacity: usize,
        faults: &Faults,
    ) -> Result<u64, ConfigureError> {
        let mut programmed = Vec::with_capacity(events.len());
        for (block, event) in events {
            let unknown = ConfigureError::Unknown { block: *block, event: *event };
            let known = Block::find(BlockId(*block)).ok_or(unknown)?;
            programmed.push(find_event(known.id, *event).ok_or(unknown)?);
            if events.iter().filter(|(other, _)| other == block).count() > known.slots as usize {
                return Err(ConfigureError::Slots { block: *block, slots: known.slots });
            }
        }
        if interval < 1000 || capacity == 0 {
            return Err(ConfigureError::Size);
        }
        let mut state = self.lock();
        if state.on {
            return Err(ConfigureError::Running);
        }
        state.configured += 1;
        state.asked = events.len();
        if !faults.sampling(SamplingFault::Stuck) {
            state.programmed = programmed;
            state.configuration = state.configured;
        }
        (state.interval, state.capacity) = (interval, capacity);
        Ok(state.configured)
    }

    /// Begins a stream of samples; whether there was a group to sample and no stream.
    pub fn start(&self) -> bool {
        let mut state = self.lock();
        if state.on || state.interval == 0 {
            return false;
        }
        state.on = true;
        state.next = self.now();
        state.pending.clear();
        state.buffer.clear();
        state.merging = None;
        state.lost = 0;
        true
    }

    /// Ends the stream. Samples that were not read yet can still be.
    pub fn stop(&self, faults: &Faults) -> bool {
        let mut state = self.lock();
        let now = self.now();
        if let Some((from, counts)) = state.merging.take() {
            state.add(from, now, &counts);
        }
        state.advance(now, faults);
        std::mem::take(&mut state.on)
    }

    /// Takes up to `most` samples, the oldest first, and the number of those that were lost to a full buffer since the last
    /// call.
    pub fn read(&self, most: usize, faults: &Faults) -> (Vec<Sample>, u64) {
        let mut state = self.lock();
        let now = self.now();
        state.advance(now, faults);
        let count = most.min(state.buffer.len());
        let samples = state.buffer.drain(..count).collect();
        (samples, std::mem::take(&mut state.lost))
    }

    /// Values of a sample.
    pub fn width(&self) -> usize {
        self.lock().asked
    }

    /// A dispatch begins.
    pub fn began(&self) -> Running<'_> {
        let mut state = self.lock();
        let began = self.now();
        state.runs += 1;
        let id = state.runs;
        state.running.insert(id, began);
        Running { sampler: self, id, began }
    }

    /// A dispatch has done this. To be called before its completion can be seen.
    pub fn ended(&self, running: Running<'_>, stats: &ExecStats, faults: &Faults) {
        let mut state = self.lock();
        if state.on {
            let now = self.now();
            let mut counts: Vec<u64> = state.programmed.iter().map(|event| counted(*event, stats)).collect();
            let mut from = running.began;
            if let Some((began, others)) = state.merging.take() {
                from = began;
                counts.iter_mut().zip(&others).for_each(|(count, other)| *count += other);
            }
            if faults.sampling(SamplingFault::Merge) {
                state.merging = Some((from, counts));
            } else {
                state.add(from, now, &counts);
            }
            if faults.sampling(SamplingFault::Stray) {
                let (at, interval) = (now + STRAY * state.interval, state.interval);
                let stray = vec![1000; state.programmed.len()];
                state.add(at, at + interval / 2, &stray);
            }
        }
        drop(state);
        drop(running);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, from: u64, to: u64, counts: &[u64]) {
        let (next, interval) = (self.next, self.interval);
        self.pending.add(next, interval, from, to, counts);
    }

    /// Tells the intervals that are over and that nothing can count in any more.
    fn advance(&mut self, now: u64, faults: &Faults) {
        if !self.on {
            return;
        }
        let merging = self.merging.as_ref().map(|(from, _)| *from);
        let limit = self.running.values().copied().chain(merging).fold(now, u64::min);
        while self.next + self.interval <= limit {
            let (start, end) = (self.next, self.next + self.interval);
            let content = self.pending.take(start);
            self.next = end;
            if faults.sampling(SamplingFault::Lose) {
                continue;
            }
            if self.buffer.len() == self.capacity {
                self.lost += 1;
                continue;
            }
            let mut values = content.counts;
            values.resize(self.asked, 0);
            let configuration = self.configuration;
            self.buffer.push_back(Sample { start, end, configuration, busy: content.busy, values });
        }
    }
}

/// What an event counts of a dispatch, summed over the instances of its block.
fn counted(event: usize, stats: &ExecStats) -> u64 {
    let event = &EVENTS[event];
    let total = (event.of)(stats);
    match event.spread {
        Spread::Shared => total,
        Spread::Each => total * u64::from(Block::find(event.block).map_or(1, Block::cells)),
    }
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
