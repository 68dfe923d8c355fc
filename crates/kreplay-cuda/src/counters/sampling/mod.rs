//! Counting by fenced sampling.
//!
//! ```text
//!  begin     program the group, unless it is; start
//!  before    idle, and nothing to wait for               ┐ no sample holds a part of two dispatches
//!  after     wait for it, let its last sample pass       ┘
//!  (portion) when many samples wait: begin to decode them in a longer gap
//!  (roll)    stop and start again, when decoding falls behind
//!  end       stop; decoding, evaluating and attributing go on beside the program
//! ```
//!
//! The hardware counts the whole device, so nothing else may run on it: what does shows as activity outside of every fence,
//! and the values of the pass are discarded.

mod collect;
mod device;
pub(crate) mod formula;
pub(crate) mod group;
mod pace;
mod progress;
mod sampler;
mod segment;
mod session;
mod shares;
mod tempo;
mod thread;
mod trouble;
mod unfenced;
mod unit;
mod workers;

#[cfg(test)]
mod tests;

pub(super) use device::Device;
pub(crate) use group::SampleGroup;
pub(crate) use session::availability;
pub(super) use unfenced::{Events, UnfencedPass};

use super::Guarded;
use super::beside::Owed;
use super::gather::Gather;
use collect::Closing;
use kreplay_engine::sampling::{Beat, Fences, Ground};
use kreplay_engine::{CountersError, PlannedCounter};
use pace::Pace;
use sampler::{MakeValues, Sampler, SamplerError};
use segment::Segment;
use session::{HostValues, Session};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trouble::Trouble;
use unit::{Programming, Unit};
use workers::Workers;

use crate::tables::Cupti;

/// How long the hardware may take to begin.
const FIRST: Duration = Duration::from_micros(100);
/// Intervals that pass before the first dispatch.
const QUIET: u64 = 12;
/// How long the event that clocks are brought together by may take.
const BASE_DEADLINE: Duration = Duration::from_secs(1);
/// How closely that should be, in nanoseconds.
const CLOSE: u64 = 8_000;
/// A device's way of counting by sampling, shared by its contexts.
pub(super) struct Sampling {
    unit: Unit,
    pace: Mutex<Pace>,
    trouble: Arc<Mutex<Trouble>>,
    /// How long the dispatches of the last window without fences ran, in nanoseconds: the median; 0: there was none.
    typical: AtomicU64,
    owed: Owed,
}

/// A pass that runs.
pub(super) struct SampledPass {
    window: u64,
    group: Arc<SampleGroup>,
    counters: Arc<[PlannedCounter]>,
    number: u32,
    /// Which dispatch the segment's first fence is.
    first: u32,
    next: u32,
    interval: u64,
    samples: u32,
    /// The longest that a dispatch can have run, in nanoseconds.
    longest: u64,
    fences: Fences,
    gather: Gather,
}

impl Sampling {
    /// The device's, made at the first call; `None` when no thread can be had for it.
    pub(super) fn of_device(
        cupti: &Arc<Cupti>,
        device: i32,
        chip: &Arc<str>,
        availability: &Arc<[u8]>,
    ) -> Option<Arc<Self>> {
        static DEVICES: Mutex<Option<HashMap<i32, Arc<Sampling>>>> = Mutex::new(None);
        let mut devices = DEVICES.guarded();
        let devices = devices.get_or_insert_default();
        if let Some(known) = devices.get(&device) {
            return Some(Arc::clone(known));
        }
        let (values, chip, availability) = (Arc::clone(cupti), Arc::clone(chip), Arc::clone(availability));
        let make: MakeValues =
            Arc::new(move |group| Ok(Box::new(HostValues::new(&values, &chip, &availability, group)?)));
        let made = Arc::new(Self::new(Box::new(Session::new(Arc::clone(cupti), device)), make)?);
        devices.insert(device, Arc::clone(&made));
        Some(made)
    }

    /// Over any hardware.
    fn new(sampler: Box<dyn Sampler>, make: MakeValues) -> Option<Self> {
        let unit = Unit::start(sampler, Workers::start(make))?;
        Some(Self {
            unit,
            pace: Mutex::default(),
            trouble: Arc::default(),
            typical: AtomicU64::new(0),
            owed: Owed::default(),
        })
    }

    /// Why sampling was given up, if it was.
    pub(super) fn given_up(&self) -> Option<String> {
        self.trouble.guarded().given_up.clone()
    }

    /// Nothing is sampled any more, for this reason.
    pub(super) fn give_up(&self, why: String) {
        self.trouble.guarded().given_up.get_or_insert(why);
        self.release();
    }

    /// Whether the hardware is programmed for some group.
    pub(super) fn is_enabled(&self) -> bool {
        self.unit.is_enabled()
    }

    fn programming(&self, group: &Arc<SampleGroup>, dispatches: u32) -> Programming {
        self.programming_beside(group, dispatches, self.unit.interval_of(group))
    }

    /// As [`Sampling::programming`], where the hardware is programmed for this interval already.
    fn programming_beside(&self, group: &Arc<SampleGroup>, dispatches: u32, programmed: Option<u64>) -> Programming {
        if self.unit.take_crammed() {
            self.pace.guarded().crammed();
        }
        let interval = self.pace.guarded().interval(self.unit.cost(group), programmed);
        Programming { group: Arc::clone(group), interval, samples: pace::samples(dispatches), bursts: false }
    }

    /// A dispatch was seen to run this long, in nanoseconds, before any samples were taken.
    pub(super) fn expect(&self, longest: u64) {
        self.pace.guarded().saw(longest, pace::SAMPLES);
    }

    /// Pass `number` begins, on an idle device.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn begin<G: Ground>(
        &self,
        (group, counters): (&Arc<SampleGroup>, &Arc<[PlannedCounter]>),
        number: u32,
        (dispatches, window): (u32, u64),
        gather: &Gather,
        ground: &mut G,
    ) -> Result<SampledPass, CountersError> {
        if let Some(why) = self.given_up() {
            return Err(CountersError::Unavailable(why));
        }
        let programming = self.programming(group, dispatches);
        self.program(&programming)?;
        let interval = programming.interval;
        let mut pass = SampledPass {
            window,
            group: Arc::clone(group),
            counters: Arc::clone(counters),
            number,
            first: 0,
            next: 0,
            interval,
            samples: programming.samples,
            longest: 0,
            fences: Fences::default(),
            gather: gather.clone(),
        };
        self.start(&mut pass, ground)?;
        Ok(pass)
    }

    /// Programs a group that the first pass is going to sample, unless the hardware is programmed already: with the interval that
    /// fits what decoding its samples is seen to take.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(super) fn prepare(&self, group: &Arc<SampleGroup>, dispatches: u32) -> Result<(), CountersError> {
        if self.given_up().is_some() || self.is_enabled() {
            return Ok(());
        }
        let programming = self.programming(group, dispatches);
        self.program(&programming)?;
        if !self.unit.knows_cost(group) {
            self.try_decoding(&programming).map_err(|error| failed(&error))?;
            self.program(&self.programming_beside(group, dispatches, None))?;
        }
        Ok(())
    }

    /// Takes some samples of whatever runs, to see what decoding them takes.
    fn try_decoding(&self, programming: &Programming) -> Result<(), SamplerError> {
        self.unit.begin()?;
        std::thread::sleep(Duration::from_nanos(programming.interval * pace::tried(programming.samples)));
        self.unit.stop(None)?;
        // Answered once what was sampled is decoded.
        self.unit.portion()
    }

    fn program(&self, programming: &Programming) -> Result<(), CountersError> {
        self.unit.program(programming).map_err(|error| {
            if error.lasting {
                self.give_up(error.to_string());
            }
            failed(&error)
        })
    }

    fn start<G: Ground>(&self, pass: &mut SampledPass, ground: &mut G) -> Result<(), CountersError> {
        self.unit.begin().map_err(|error| failed(&error))?;
        let gap = pace::gap(pass.interval);
        // The first sample reaches back to before the start, and is thrown away: it must be over. Those that follow tell what is
        // counted while nothing runs.
        ground.pass(FIRST.max(Duration::from_nanos(pass.interval * QUIET)));
        pass.first = pass.next;
        pass.fences = Fences::new(gap, ground);
        Ok(())
    }

    /// Dispatch `index` follows.
    ///
    /// # Errors
    /// That of the wait.
    pub(super) fn before<G: Ground<Error = CountersError>>(
        &self,
        pass: &mut SampledPass,
        index: u32,
        ground: &mut G,
    ) -> Result<(), CountersError> {
        if index != pass.next {
            return Err(CountersError::Discarded("a dispatch was left out".into()));
        }
        if !self.unit.enter() {
            // The program took its time, and the hardware was stopped.
            pass.fences.end(ground);
            self.stop(pass)?;
            ground.idle()?;
            self.start(pass, ground)?;
            self.unit.enter();
        }
        pass.fences.before(ground, |now| self.unit.beat(now))
    }

    /// The dispatch was submitted. Begins another segment where many samples wait.
    ///
    /// # Errors
    /// That of the wait, or the hardware's.
    pub(super) fn after<G: Ground<Error = CountersError>>(
        &self,
        pass: &mut SampledPass,
        ground: &mut G,
    ) -> Result<(), CountersError> {
        // Now and then whole samples are idle, which shows what else runs on the device.
        let looks = pass.next % pace::LOOK == 0;
        pass.fences.after(ground, |now| self.unit.beat(now).filter(|_| !looks))?;
        let now = ground.now();
        self.unit.leave(now);
        pass.next += 1;
        if self.unit.crowded(now) {
            self.stop(pass)?;
            self.start(pass, ground)?;
        } else if self.unit.portion_due(now) {
            let settled = pace::settled(pass.interval);
            ground.pass(settled);
            self.unit.portion().map_err(|error| failed(&error))?;
            ground.pass(settled);
        }
        Ok(())
    }

    /// The pass ends; its work is done.
    ///
    /// # Errors
    /// The hardware's.
    pub(super) fn end<G: Ground>(&self, mut pass: SampledPass, ground: &mut G) -> Result<(), CountersError> {
        pass.fences.end(ground);
        let stopped = self.stop(&mut pass);
        if pass.longest > 0 {
            self.pace.guarded().saw(pass.longest, pass.samples);
        }
        stopped
    }

    fn stop(&self, pass: &mut SampledPass) -> Result<(), CountersError> {
        let fences = std::mem::take(&mut pass.fences);
        let segment = Segment {
            group: Arc::clone(&pass.group),
            counters: Arc::clone(&pass.counters),
            pass: pass.number,
            first: pass.first,
            fences: fences.done,
            others: fences.others,
            interval: pass.interval,
            tolerance: if fences.by_beat { Beat::TOLERANCE } else { segment::TOLERANCE },
        };
        if segment.fences.is_empty() {
            return self.unit.stop(None).map_err(|error| failed(&error));
        }
        pass.longest = pass.longest.max(segment.longest());
        let (trouble, window) = (Arc::clone(&self.trouble), pass.window);
        let closing = Closing {
            work: Box::new(move |samples| segment.readings(samples)),
            part: pass.gather.part(&self.owed),
            ended: Box::new(move |failed| {
                if let Some((lost, why)) = failed {
                    trouble.guarded().in_window(window, lost, why);
                }
            }),
        };
        self.unit.stop(Some(closing)).map_err(|error| failed(&error))
    }

    /// The pass is given up.
    pub(super) fn abandon(&self) {
        // What could not be stopped is not programmed again as it is.
        if self.unit.stop(None).is_err() {
            self.unit.release();
        }
    }

    /// Gives the hardware back.
    pub(super) fn release(&self) {
        self.unit.release();
    }

    /// Waits until everything that was sampled is delivered.
    pub(super) fn flush(&self) {
        self.owed.wait();
    }
}

fn failed(error: &SamplerError) -> CountersError {
    if error.lasting {
        CountersError::Unavailable(error.to_string())
    } else {
        CountersError::Failed { call: error.call, status: error.status.clone() }
    }
}
