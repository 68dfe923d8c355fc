//! The thread that has a device's sampling hardware to itself: it programs, starts, stops and decodes.
//!
//! Where decoding is much faster than sampling it goes on beside the device, in portions; else all that waits is decoded at
//! once after the stop. Only then is the next command taken, so nothing is decoded into another segment. What does not fit
//! an image is lost, so [`Unit::crowded`] says when it is time to stop; and where the program takes its time between two
//! dispatches the thread stops by itself, which [`Unit::enter`] tells.

use super::collect::Closing;
use super::pace::{self, portion};
use super::progress::Progress;
use super::sampler::{Sampler, SamplerError};
use super::thread::Thread;
use super::workers::Workers;
use crate::counters::Guarded;
use crate::counters::beside::beside;
use crate::counters::planning::sample_group::SampleGroup;
use crate::thread;
use kreplay_engine::sampling::Beat;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

/// Takes the thread's answer.
pub(super) type Reply = Sender<Result<(), SamplerError>>;

/// How the hardware is to be programmed.
#[derive(Clone, Debug)]
pub(super) struct Programming {
    pub(super) group: Arc<SampleGroup>,
    /// Nanoseconds between samples.
    pub(super) interval: u64,
    /// Samples that an image holds.
    pub(super) samples: u32,
    /// Sampling is stopped for decoding and started again whatever runs meanwhile.
    pub(super) bursts: bool,
}

impl PartialEq for Programming {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.group, &other.group)
            && (self.interval, self.samples, self.bursts) == (other.interval, other.samples, other.bursts)
    }
}

/// What the thread is asked for.
pub(super) enum Command {
    Program(Programming, Reply),
    Start(Reply),
    /// Decodes what waits; answered as that begins.
    Portion(Reply),
    Stop(Option<Box<Closing>>, Reply),
    Release(Reply),
}

/// Sends commands to the thread. Each is answered when it is done, but for the decoding behind a stop.
pub(super) struct Unit {
    sender: Mutex<Sender<Command>>,
    workers: Workers,
    progress: Arc<Progress>,
    programmed: Mutex<Option<Programming>>,
}

impl Unit {
    /// Starts the thread; `None` when none can be had.
    pub(super) fn start(sampler: Box<dyn Sampler>, workers: Workers) -> Option<Self> {
        let (sender, receiver) = channel();
        let progress = Arc::new(Progress::default());
        let (told, own) = (Arc::clone(&progress), workers.clone());
        beside("kreplay-sample", move || Thread::new(sampler, workers, told).run(&receiver)).then_some(Self {
            sender: Mutex::new(sender),
            workers: own,
            progress,
            programmed: Mutex::default(),
        })
    }

    fn ask(&self, command: impl FnOnce(Reply) -> Command) -> Result<(), SamplerError> {
        let (reply, answer) = channel();
        self.progress.asker.store(thread::cpu().unwrap_or(usize::MAX), Ordering::Relaxed);
        let gone = || SamplerError { call: "sampling", status: "its thread ended".into(), lasting: true };
        self.sender.guarded().send(command(reply)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Whether the hardware is programmed so.
    fn is_programmed(&self, programming: &Programming) -> bool {
        !self.progress.spoilt.load(Ordering::Relaxed) && self.programmed.guarded().as_ref() == Some(programming)
    }

    /// At which interval it is programmed for this group, in nanoseconds.
    pub(super) fn interval_of(&self, group: &Arc<SampleGroup>) -> Option<u64> {
        let programmed = self.programmed.guarded();
        programmed.as_ref().filter(|known| Arc::ptr_eq(&known.group, group)).map(|known| known.interval)
    }

    /// What decoding a sample of a group takes, in nanoseconds, as far as that is known.
    pub(super) fn cost(&self, group: &Arc<SampleGroup>) -> Option<u64> {
        self.progress.cost(group)
    }

    /// Whether that was seen of this group.
    pub(super) fn knows_cost(&self, group: &Arc<SampleGroup>) -> bool {
        self.progress.knows_cost(group)
    }

    /// When samples end, where that is known at this time of their clock.
    pub(super) fn beat(&self, now: u64) -> Option<Beat> {
        self.progress.beat(now)
    }

    /// Whether the hardware is programmed.
    pub(super) fn is_enabled(&self) -> bool {
        self.programmed.guarded().is_some()
    }

    /// Programs it, unless it is so already.
    ///
    /// # Errors
    /// The sampler's; nothing is programmed then.
    pub(super) fn program(&self, programming: &Programming) -> Result<(), SamplerError> {
        if self.is_programmed(programming) {
            return Ok(());
        }
        *self.programmed.guarded() = None;
        self.ask(|reply| Command::Program(programming.clone(), reply))?;
        *self.programmed.guarded() = Some(programming.clone());
        Ok(())
    }

    /// Starts sampling, once everything that was sampled before is decoded. A fence is open until [`Unit::leave`]: the hardware is not
    /// stopped before anything has run.
    ///
    /// # Errors
    /// The sampler's.
    pub(super) fn begin(&self) -> Result<(), SamplerError> {
        self.ask(Command::Start)
    }

    /// A dispatch's fence begins. `false`: the hardware was stopped meanwhile, and the segment has to be ended.
    pub(super) fn enter(&self) -> bool {
        let mut running = self.progress.running.guarded();
        let Some(pending) = &mut *running else { return true };
        pending.within = true;
        !pending.stopped
    }

    /// A dispatch's fence has ended, at this time of the samples' clock.
    pub(super) fn leave(&self, now: u64) {
        if let Some(pending) = &mut *self.progress.running.guarded() {
            (pending.within, pending.left) = (false, now);
        }
    }

    /// Whether more samples waited than was expected since this was last asked.
    pub(super) fn take_crammed(&self) -> bool {
        self.progress.crammed.swap(false, Ordering::Relaxed)
    }

    /// Stops sampling. What was sampled goes to `closing`, later and on another thread; `None`: nobody wants it.
    ///
    /// # Errors
    /// The sampler's; `closing` is told of it too.
    pub(super) fn stop(&self, closing: Option<Closing>) -> Result<(), SamplerError> {
        self.ask(|reply| Command::Stop(closing.map(Box::new), reply))
    }

    /// Gives the hardware back.
    pub(super) fn release(&self) {
        if self.programmed.guarded().take().is_some() {
            // The thread is gone, and with it the hardware.
            let _ = self.ask(Command::Release);
        }
    }

    /// Whether so many samples wait, at this time of the samples' clock, that the segment should end.
    pub(super) fn crowded(&self, now: u64) -> bool {
        let pending = *self.progress.running.guarded();
        pending.is_some_and(|pending| self.progress.waiting(&pending, now) >= pending.limit)
    }

    /// Whether so many samples wait, at this time of the samples' clock, that a portion should be decoded, and the thread could.
    pub(super) fn portion_due(&self, now: u64) -> bool {
        let running = self.progress.running.guarded();
        let (Some(pending), Some(programming)) = (&*running, &*self.programmed.guarded()) else { return false };
        let waiting = self.progress.waiting(pending, now);
        let unknown = || self.progress.beat_of(pending, now).is_none();
        let due = portion(waiting, programming.samples) || (pace::teaches(waiting, pending.interval) && unknown());
        let could = !pending.stopped && !self.progress.decoding.load(Ordering::Relaxed);
        due && could && self.workers.is_ready()
    }

    /// Begins to decode what waits: nothing has run for a while, and nothing may run for a while.
    ///
    /// # Errors
    /// That the thread is gone.
    pub(super) fn portion(&self) -> Result<(), SamplerError> {
        self.ask(Command::Portion)
    }

    /// Whether no portion is being decoded, and the next one could be: nothing that a test's device does has to wait for.
    #[cfg(test)]
    pub(super) fn keeps_up(&self) -> bool {
        !self.progress.decoding.load(Ordering::Relaxed) && self.workers.is_ready()
    }

    /// Whether the thread has stopped the hardware by itself.
    #[cfg(test)]
    pub(super) fn is_stopped(&self) -> bool {
        self.progress.running.guarded().is_some_and(|pending| pending.stopped)
    }
}
