//! The thread that has a device's sampling hardware to itself: it programs, starts, stops and decodes.
//!
//! Where decoding is much faster than sampling it goes on beside the device, in portions; else all that waits is decoded at
//! once after the stop. Only then is the next command taken, so nothing is decoded into another segment. What does not fit
//! an image is lost, so [`Unit::crowded`] says when it is time to stop; and where the program takes its time between two
//! dispatches the thread stops by itself, which [`Unit::enter`] tells.

use super::collect::{Closing, Collected, Lost};
use super::group::SampleGroup;
use super::pace::{limit, portion};
use super::sampler::{Decoded, Sampler, SamplerError};
use super::workers::{Blank, Filled, Workers};
use crate::counters::beside::beside;
use crate::counters::{Guarded, exit};
use kreplay_engine::CountersError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long the thread sleeps when nothing is there to decode.
const IDLE: Duration = Duration::from_micros(100);
type Reply = Sender<Result<(), SamplerError>>;

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

enum Command {
    Program(Programming, Reply),
    Start(Reply),
    Stop(Option<Box<Closing>>, Reply),
    Release(Reply),
}

/// Sends commands to the thread. Each is answered when it is done, but for the decoding behind a stop.
pub(super) struct Unit {
    sender: Mutex<Sender<Command>>,
    progress: Arc<Progress>,
    programmed: Mutex<Option<Programming>>,
}

/// How far the running segment is.
#[derive(Default)]
struct Progress {
    /// Samples that were decoded.
    decoded: AtomicU64,
    /// The hardware does not sample any more: it must be programmed anew.
    spoilt: AtomicBool,
    /// More waited than was expected.
    crammed: AtomicBool,
    /// It was programmed once.
    ever: AtomicBool,
    running: Mutex<Option<Pending>>,
}

/// What a segment's samples are counted by.
#[derive(Clone, Copy)]
struct Pending {
    /// On the samples' clock.
    began: u64,
    interval: u64,
    /// How many samples may wait.
    limit: u64,
    /// How many are decoded at once beside the device, if that is done.
    portion: Option<u64>,
    /// A dispatch is within its fence.
    within: bool,
    /// The thread has stopped by itself.
    stopped: bool,
    /// It starts again after that.
    bursts: bool,
}

impl Progress {
    /// Samples that wait to be decoded at this time of the samples' clock.
    fn waiting(&self, pending: &Pending, now: u64) -> u64 {
        let taken = now.saturating_sub(pending.began) / pending.interval.max(1);
        taken.saturating_sub(self.decoded.load(Ordering::Relaxed))
    }
}

impl Unit {
    /// Starts the thread; `None` when none can be had.
    pub(super) fn start(sampler: Box<dyn Sampler>, workers: Workers) -> Option<Self> {
        let (sender, receiver) = channel();
        let progress = Arc::new(Progress::default());
        let told = Arc::clone(&progress);
        beside("kreplay-sample", move || {
            let mut thread =
                Thread { sampler, workers, progress: told, programmed: None, running: None, blanks: Vec::new() };
            thread.run(&receiver);
            thread.workers.close();
        })
        .then_some(Self { sender: Mutex::new(sender), progress, programmed: Mutex::default() })
    }

    fn ask(&self, command: impl FnOnce(Reply) -> Command) -> Result<(), SamplerError> {
        let (reply, answer) = channel();
        let gone = || SamplerError { call: "sampling", status: "its thread ended".into(), lasting: true };
        self.sender.guarded().send(command(reply)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Whether the hardware is programmed so.
    fn is_programmed(&self, programming: &Programming) -> bool {
        !self.progress.spoilt.load(Ordering::Relaxed) && self.programmed.guarded().as_ref() == Some(programming)
    }

    /// Whether it was programmed before.
    pub(super) fn was_programmed(&self) -> bool {
        self.progress.ever.load(Ordering::Relaxed)
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

    /// Starts sampling, once everything that was sampled before is decoded.
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

    /// A dispatch's fence has ended.
    pub(super) fn leave(&self) {
        if let Some(pending) = &mut *self.progress.running.guarded() {
            pending.within = false;
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

    /// Whether the thread has stopped the hardware by itself.
    #[cfg(test)]
    pub(super) fn is_stopped(&self) -> bool {
        self.progress.running.guarded().is_some_and(|pending| pending.stopped)
    }
}

struct Thread {
    sampler: Box<dyn Sampler>,
    workers: Workers,
    progress: Arc<Progress>,
    programmed: Option<(Programming, Blank)>,
    running: Option<Running>,
    blanks: Vec<KnownBlank>,
}

/// An empty image, and whether the same came twice.
struct KnownBlank {
    group: Arc<SampleGroup>,
    samples: u32,
    blank: Blank,
    repeats: bool,
}

struct Running {
    collected: Arc<Collected>,
    empty: Blank,
    images: u32,
    /// The first sample reaches back to the last stop, and is nobody's.
    fresh: bool,
}

impl Thread {
    fn run(&mut self, commands: &Receiver<Command>) {
        loop {
            let command = if self.running.is_some() {
                self.look();
                match commands.recv_timeout(IDLE) {
                    Ok(command) => command,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            } else {
                let Ok(command) = commands.recv() else { return };
                command
            };
            self.obey(command);
        }
    }

    /// Decodes a portion beside the device, or stops it where nothing runs and much waits.
    fn look(&mut self) {
        let now = self.sampler.now();
        let (portion, stop, bursts) = {
            let mut running = self.progress.running.guarded();
            let Some(pending) = running.as_mut().filter(|pending| !pending.stopped) else { return };
            let waiting = self.progress.waiting(pending, now);
            let portion = pending.portion.is_some_and(|portion| waiting >= portion);
            // Under the lock, so that no dispatch begins meanwhile.
            pending.stopped = !portion && (!pending.within || pending.bursts) && waiting >= pending.limit;
            (portion, pending.stopped, pending.bursts)
        };
        if stop && let Err(error) = self.sampler.stop() {
            if let Some(running) = &self.running {
                running.collected.fail(Lost::Misfit, super::failed(&error));
            }
            return;
        }
        if portion || stop {
            self.decode();
        }
        if stop && bursts {
            self.burst();
        }
    }

    /// Starts again in the middle of a segment.
    fn burst(&mut self) {
        let Some(running) = &mut self.running else { return };
        if let Err(error) = self.sampler.start() {
            running.collected.fail(Lost::Misfit, super::failed(&error));
            return;
        }
        running.fresh = true;
        self.progress.decoded.store(0, Ordering::Relaxed);
        if let Some(pending) = &mut *self.progress.running.guarded() {
            pending.began = self.sampler.now();
            pending.stopped = false;
        }
    }

    fn obey(&mut self, command: Command) {
        // Whoever asked may have gone.
        match command {
            Command::Program(programming, reply) => drop(reply.send(self.program(&programming))),
            Command::Start(reply) => drop(reply.send(self.start())),
            Command::Stop(closing, reply) => self.stop(closing, &reply),
            Command::Release(reply) => {
                self.running = None;
                *self.progress.running.guarded() = None;
                self.programmed = None;
                self.sampler.release();
                drop(reply.send(Ok(())));
            }
        }
    }

    fn program(&mut self, programming: &Programming) -> Result<(), SamplerError> {
        self.programmed = None;
        self.sampler.program(&programming.group, programming.interval)?;
        let empty = self.blank(programming)?;
        self.progress.spoilt.store(false, Ordering::Relaxed);
        self.progress.ever.store(true, Ordering::Relaxed);
        exit::programmed(Arc::as_ptr(&programming.group) as usize);
        self.programmed = Some((programming.clone(), empty));
        Ok(())
    }

    /// An empty image for what is programmed. Making one takes long, so once two of a group were the same they are held for
    /// the same ever after.
    fn blank(&mut self, programming: &Programming) -> Result<Blank, SamplerError> {
        let same = |known: &&mut KnownBlank| {
            Arc::ptr_eq(&known.group, &programming.group) && known.samples == programming.samples
        };
        let known = self.blanks.iter_mut().find(same);
        if let Some(KnownBlank { blank, repeats: true, .. }) = &known {
            return Ok(Blank::clone(blank));
        }
        let made = self.sampler.empty_image(programming.samples)?;
        let Some(known) = known else {
            let blank = Blank::new(made);
            let (group, samples) = (Arc::clone(&programming.group), programming.samples);
            self.blanks.push(KnownBlank { group, samples, blank: Blank::clone(&blank), repeats: false });
            return Ok(blank);
        };
        known.repeats = *known.blank == made;
        if !known.repeats {
            known.blank = Blank::new(made);
        }
        Ok(Blank::clone(&known.blank))
    }

    fn start(&mut self) -> Result<(), SamplerError> {
        let Some((programming, empty)) = &self.programmed else {
            return Err(SamplerError { call: "sampling", status: "nothing is programmed".into(), lasting: false });
        };
        let collected = Collected::new(Arc::clone(&programming.group));
        let mut pending = Pending {
            began: 0,
            interval: programming.interval,
            limit: limit(programming.samples, programming.interval),
            portion: portion(programming.samples, programming.interval, programming.group.is_far()),
            within: false,
            stopped: false,
            bursts: programming.bursts,
        };
        self.running = None;
        self.sampler.start()?;
        pending.began = self.sampler.now();
        self.running = Some(Running { collected, empty: Blank::clone(empty), images: 0, fresh: true });
        self.progress.decoded.store(0, Ordering::Relaxed);
        *self.progress.running.guarded() = Some(pending);
        Ok(())
    }

    fn stop(&mut self, closing: Option<Box<Closing>>, reply: &Reply) {
        let pending = self.progress.running.guarded().take();
        let already = pending.is_some_and(|pending| pending.stopped);
        let stopped = if already { Ok(()) } else { self.sampler.stop() };
        let failed = stopped.as_ref().err().cloned();
        drop(reply.send(stopped));
        if failed.is_none() && !already {
            // All that waits: what does not fit the image is lost.
            self.decode();
        }
        let Some(running) = self.running.take() else { return };
        if let Some(error) = failed {
            running.collected.fail(Lost::Misfit, super::failed(&error));
        }
        running.collected.close(running.images, closing.map(|closing| *closing));
    }

    /// Decodes what waits.
    fn decode(&mut self) {
        let Some(running) = &mut self.running else { return };
        let mut image = self.workers.image(&running.empty);
        let decoded = self.sampler.decode(&mut image).unwrap_or_else(|error| {
            running.collected.fail(Lost::Misfit, super::failed(&error));
            Decoded::default()
        });
        let lost = |what: &str| running.collected.fail(Lost::Room, CountersError::Discarded(what.into()));
        if decoded.overflow {
            self.progress.spoilt.store(true, Ordering::Relaxed);
            self.progress.crammed.store(true, Ordering::Relaxed);
            lost("the hardware's buffer was full, and samples are lost");
        } else if decoded.full {
            self.progress.crammed.store(true, Ordering::Relaxed);
            lost("more samples waited than were expected, and some are lost");
        }
        let count = decoded.times.len();
        if count == 0 {
            // It is as empty as it was.
            self.workers.unused(&running.empty, image);
            return;
        }
        self.progress.decoded.fetch_add(count as u64, Ordering::Relaxed);
        self.workers.read(Filled {
            image,
            empty: Blank::clone(&running.empty),
            times: decoded.times,
            skip: usize::from(std::mem::take(&mut running.fresh)),
            collected: Arc::clone(&running.collected),
            place: running.images,
        });
        running.images += 1;
    }
}
