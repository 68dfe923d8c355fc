//! A device whose clock stands still unless it is moved.

use super::super::sampler::{Decoded, Sampler, SamplerError, Values};
use crate::counters::Guarded;
use crate::counters::planning::sample_group::SampleGroup;
use kreplay_engine::CountersError;
use kreplay_engine::sampling::Ground;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The hardware's buffer was full.
    Overflow,
    /// A sample in the middle is missing.
    Hole,
    /// The hardware was not programmed, and takes no samples.
    Silent,
    /// Something runs in the gaps.
    Stray,
    /// Dispatches do not wait for each other.
    NoGap,
    /// The image is full after one sample.
    Full,
    /// … after a hundred, at the third decoding.
    Cramped,
    /// The hardware's buffer is full at the second decoding, and nothing comes out until it is programmed anew.
    Spilt,
    /// No time passes around a decoding.
    Hasty,
    /// The stamps of a decoding begin a little before those of the one before end.
    Ticks,
    /// No empty image can be had.
    NoImage,
}

/// A stretch of activity and its count.
pub(super) struct Activity {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) count: u64,
}

pub(super) struct World {
    pub(super) now: u64,
    pub(super) busy: u64,
    pub(super) interval: u64,
    /// Just started, and when.
    pub(super) running: bool,
    pub(super) started: u64,
    /// Up to when samples were taken.
    pub(super) sampled: u64,
    pub(super) activities: Vec<Activity>,
    pub(super) submitted: u64,
    /// Empty images that were made.
    pub(super) blanks: u32,
    pub(super) programmed: Vec<u64>,
    /// It was programmed and not given back.
    pub(super) enabled: bool,
    pub(super) starts: u32,
    pub(super) fault: Fault,
    /// Samples are taken, or when that ended.
    pub(super) on: bool,
    pub(super) stopped: u64,
    /// How long it samples before it is stopped, beside what the ground lets pass.
    pub(super) lasts: u64,
    /// How long the decoding behind a stop takes.
    pub(super) decoding: u64,
    /// It does not start again before it is programmed anew.
    pub(super) refuses: bool,
    /// How long any decoding keeps its thread.
    pub(super) slow: Duration,
    /// When the thread last looked at the clock: right before it decodes.
    pub(super) looked: u64,
    /// Where the last decoding beside the device ended: of the sample that begins there what was counted is lost.
    pub(super) torn: u64,
    /// What the second term counts in a microsecond while nothing runs: the host gets something ready.
    pub(super) noise: u64,
    /// The thread sees time pass while something runs.
    pub(super) gradual: bool,
    /// How often it looked at the clock.
    pub(super) looks: u64,
    /// How often it has decoded.
    pub(super) decodings: u32,
}

impl World {
    /// What was counted until `time`.
    pub(super) fn until(&self, time: u64) -> (u64, u64) {
        let part = |activity: &Activity| {
            let (run, whole) = (time.clamp(activity.from, activity.to) - activity.from, activity.to - activity.from);
            (run, activity.count * run / whole)
        };
        self.activities.iter().map(part).fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

#[derive(Clone)]
pub(super) struct Fake(pub(super) Arc<Mutex<World>>);

impl Fake {
    pub(super) fn new(fault: Fault) -> Self {
        Self(Arc::new(Mutex::new(World {
            now: 1_000_000_000,
            busy: 0,
            interval: 0,
            running: false,
            started: 0,
            sampled: 0,
            activities: Vec::new(),
            submitted: 0,
            blanks: 0,
            programmed: Vec::new(),
            enabled: false,
            starts: 0,
            fault,
            on: false,
            stopped: 0,
            lasts: 0,
            decoding: 0,
            refuses: false,
            slow: Duration::ZERO,
            looked: 0,
            torn: 0,
            noise: 0,
            gradual: false,
            looks: 0,
            decodings: 0,
        })))
    }

    /// Waits until the thread has looked at the clock.
    fn be_seen(&self) {
        let looked = self.0.guarded().looks;
        while self.0.guarded().looks == looked {
            std::thread::yield_now();
        }
    }

    /// Something is submitted: it begins 5 µs later and runs this long.
    pub(super) fn submit(&self, length: u64, count: u64) {
        let mut world = self.0.guarded();
        let from = world.now.max(world.busy) + 5_000;
        world.now += 2_000;
        world.submitted += 1;
        world.busy = from + length;
        world.activities.push(Activity { from, to: from + length, count });
    }
}

impl Ground for Fake {
    type Error = CountersError;
    fn idle(&mut self) -> Result<(), CountersError> {
        loop {
            let mut world = self.0.guarded();
            if !world.gradual || world.now >= world.busy {
                break;
            }
            // Fewer samples than may still come when an image is full.
            world.now += world.interval * 4;
            drop(world);
            self.be_seen();
        }
        let mut world = self.0.guarded();
        world.now = world.now.max(world.busy) + 3_000;
        Ok(())
    }
    fn now(&mut self) -> u64 {
        let mut world = self.0.guarded();
        world.now += 50;
        world.now
    }
    fn submissions(&mut self) -> u64 {
        self.0.guarded().submitted
    }
    fn pass(&mut self, time: Duration) {
        let mut world = self.0.guarded();
        let around = world.fault == Fault::Hasty && time == super::super::pace::settled(world.interval);
        if world.fault != Fault::NoGap && !around {
            world.now += time.as_nanos() as u64;
        }
        if world.fault == Fault::Stray {
            let from = world.now - time.as_nanos() as u64 / 2;
            world.activities.push(Activity { from, to: from + 500, count: 1 });
        }
        let gradual = world.gradual;
        drop(world);
        if gradual {
            self.be_seen();
        }
    }
}

impl Sampler for Fake {
    fn program(&mut self, _group: &Arc<SampleGroup>, interval: u64) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        world.interval = interval;
        world.refuses = false;
        world.programmed.push(interval);
        world.enabled = true;
        Ok(())
    }
    fn start(&mut self) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        if world.refuses {
            return Err(SamplerError { call: "start", status: "unknown".into(), lasting: false });
        }
        world.starts += 1;
        world.sampled = world.sampled.max(world.stopped);
        world.running = true;
        world.on = true;
        world.started = world.now;
        Ok(())
    }
    fn stop(&mut self) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        // A little goes on until the hardware has stopped.
        world.now += world.lasts + world.interval;
        world.on = false;
        world.stopped = world.now;
        Ok(())
    }
    fn now(&mut self) -> u64 {
        let mut world = self.0.guarded();
        world.looked = world.now;
        world.looks += 1;
        world.now
    }
    fn release(&mut self) {
        self.0.guarded().enabled = false;
    }
    fn empty_image(&mut self, samples: u32) -> Result<Vec<u8>, SamplerError> {
        let mut world = self.0.guarded();
        if world.fault == Fault::NoImage {
            return Err(SamplerError { call: "an image", status: "no room".into(), lasting: false });
        }
        world.blanks += 1;
        Ok(vec![0; samples as usize * 16])
    }
    fn decode(&mut self, image: &mut [u8]) -> Result<Decoded, SamplerError> {
        let slow = self.0.guarded().slow;
        std::thread::sleep(slow);
        let mut world = self.0.guarded();
        let mut decoded = Decoded { overflow: world.fault == Fault::Overflow, ..Decoded::default() };
        if decoded.overflow {
            return Ok(decoded);
        }
        if world.fault == Fault::Silent {
            return Ok(decoded);
        }
        world.decodings += 1;
        world.refuses |= world.fault == Fault::Spilt && world.decodings == 2;
        if world.fault == Fault::Spilt && world.refuses {
            image[..16].fill(7);
            decoded.overflow = true;
            return Ok(decoded);
        }
        let room = match world.fault {
            Fault::Full => 16,
            Fault::Cramped if world.decodings == 3 => 100 * 16,
            _ => image.len(),
        };
        let mut at = world.sampled;
        let mut first = std::mem::take(&mut world.running).then_some(world.started);
        // Once stopped it takes no more, whenever it is decoded.
        let until = if world.on { world.looked } else { world.stopped };
        while at + world.interval <= until {
            // The first sample of a start reaches back to the last stop.
            let end = first.take().unwrap_or(at) + world.interval;
            let (before, after) = if at == world.torn { ((0, 0), (0, 0)) } else { (world.until(at), world.until(end)) };
            let place = decoded.times.len() * 16;
            if place + 16 > room {
                // The rest is gone.
                decoded.full = true;
                at += (until - at) / world.interval * world.interval;
                break;
            }
            image[place..place + 8].copy_from_slice(&(after.0 - before.0).to_le_bytes());
            let noise = (end - at).saturating_sub(after.0 - before.0) * world.noise / 1000;
            image[place + 8..place + 16].copy_from_slice(&(after.1 - before.1 + noise).to_le_bytes());
            decoded.times.push((at, end));
            at = end;
        }
        if world.fault == Fault::Ticks
            && let Some(first) = decoded.times.first_mut()
        {
            first.0 -= 36;
        }
        world.sampled = at;
        world.torn = if world.on { at } else { 0 };
        if !world.on {
            world.now += world.decoding;
            world.sampled = world.now;
        }
        if world.fault == Fault::Hole && decoded.times.len() > 8 {
            let (first, last) = (decoded.times[4], decoded.times[6]);
            decoded.times[4] = (first.0, first.0 + 1);
            decoded.times[5] = (last.0, last.0 + 1);
        }
        Ok(decoded)
    }
}

pub(super) struct FakeValues;

impl Values for FakeValues {
    fn values(&self, image: &[u8], index: usize, into: &mut [f64]) -> Result<(), SamplerError> {
        for (term, value) in into.iter_mut().enumerate() {
            let place = index * 16 + term * 8;
            let bytes = image[place..place + 8].try_into().expect("eight bytes");
            *value = u64::from_le_bytes(bytes) as f64;
        }
        Ok(())
    }
}
