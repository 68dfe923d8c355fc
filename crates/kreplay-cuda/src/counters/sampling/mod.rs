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

mod clocks;
mod collect;
mod device;
mod pace;
mod pass;
mod progress;
mod sampler;
mod segment;
mod session;
mod shares;
mod tempo;
mod thread;
mod times;
mod trouble;
mod unfenced;
mod unit;
mod workers;

#[cfg(test)]
mod tests;

use crate::counters::planning::sample_group::SampleGroup;
pub(super) use device::Device;
pub(super) use pass::SampledPass;
pub(crate) use session::availability;
pub(super) use unfenced::{Events, UnfencedPass};

use super::Guarded;
use super::beside::Owed;
use kreplay_engine::{AgentId, CountersError};
use pace::Pace;
use sampler::{MakeValues, Sampler, SamplerError};
use session::{HostValues, Session};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trouble::Trouble;
use unit::{Programming, Unit};
use workers::Workers;

use crate::tables::Cupti;

/// A window, by the agent whose it is and its number there.
pub(super) type OfAgent = (AgentId, u64);

/// The windows that were sampled on a device: contexts number theirs on their own.
#[derive(Default)]
struct Counted {
    last: Option<OfAgent>,
    windows: u64,
}

impl Counted {
    /// Which one a window is.
    fn number(&mut self, window: OfAgent) -> u64 {
        if self.last.replace(window) != Some(window) {
            self.windows += 1;
        }
        self.windows
    }
}

/// A device's way of counting by sampling, shared by its contexts.
pub(super) struct Sampling {
    unit: Unit,
    pace: Mutex<Pace>,
    trouble: Arc<Mutex<Trouble>>,
    counted: Mutex<Counted>,
    /// How long the dispatches of the last window without fences ran, in nanoseconds: the median; 0: there was none.
    typical: AtomicU64,
    owed: Owed,
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
            counted: Mutex::default(),
            typical: AtomicU64::new(0),
            owed: Owed::default(),
        })
    }

    /// Why sampling was given up, if it was.
    pub(super) fn given_up(&self) -> Option<String> {
        self.trouble.guarded().given_up.clone()
    }

    /// Nothing is sampled any more, for this reason.
    fn give_up(&self, why: String) {
        self.trouble.guarded().given_up.get_or_insert(why);
        self.release();
    }

    /// The same, since somebody else is on the GPU.
    pub(super) fn give_up_for(&self, company: &'static str) {
        self.trouble.guarded().company = Some(company);
        self.give_up(format!("{company}, and its work would be sampled too"));
    }

    /// Who came to the GPU, if anybody was seen there.
    pub(super) fn company(&self) -> Option<&'static str> {
        self.trouble.guarded().company
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
        let interval = self.interval(group, programmed);
        Programming { group: Arc::clone(group), interval, samples: pace::samples(dispatches), bursts: false }
    }

    /// Nanoseconds between a group's samples, where the hardware is programmed for `programmed` already.
    fn interval(&self, group: &Arc<SampleGroup>, programmed: Option<u64>) -> u64 {
        let cost = self.unit.cost(group).unwrap_or_else(|| pace::likely(group.is_near()));
        self.pace.guarded().interval(cost, programmed)
    }

    /// A dispatch was seen to run this long, in nanoseconds, before any samples were taken.
    pub(super) fn expect(&self, longest: u64) {
        self.pace.guarded().saw(longest, pace::SAMPLES);
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
        if !self.unit.knows_cost(group) && pace::needs_trial(programming.interval) {
            self.try_decoding(group, &programming).map_err(|error| failed(&error))?;
            self.program(&self.programming_beside(group, dispatches, None))?;
        }
        Ok(())
    }

    /// Takes some samples of whatever runs, to see what decoding them takes; and some more on other CPUs, where one does not keep up.
    fn try_decoding(&self, group: &Arc<SampleGroup>, programming: &Programming) -> Result<(), SamplerError> {
        for _ in 0..pace::TRIES {
            self.unit.begin()?;
            std::thread::sleep(Duration::from_nanos(programming.interval * pace::tried(programming.samples)));
            self.unit.stop(None)?;
            // Answered once what was sampled is decoded.
            self.unit.portion()?;
            if self.unit.cost(group).is_none_or(|cost| !pace::falls_behind(cost, programming.interval)) {
                break;
            }
        }
        Ok(())
    }

    fn program(&self, programming: &Programming) -> Result<(), CountersError> {
        self.unit.program(programming).map_err(|error| {
            if error.lasting {
                self.give_up(error.to_string());
            }
            failed(&error)
        })
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
