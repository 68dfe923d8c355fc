//! What the thread does that has a device's sampling hardware to itself; see [`super::unit`].

use super::collect::{Closing, Collected, Lost, MOST_KEPT};
use super::pace::{falls_behind, limit, most};
use super::progress::{Pending, Progress};
use super::sampler::{Decoded, Sampler, SamplerError};
use super::unit::{Command, Programming, Reply};
use super::workers::{Blank, Filled, Workers};
use crate::counters::planning::sample_group::SampleGroup;
use crate::counters::{Guarded, exit};
use crate::thread::leave_cpu;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Samples of a decoding that tells what one takes: each decoding takes half a millisecond besides (H200), which says nothing of
/// them.
const TELLING: usize = 90;
/// How long the thread sleeps when nothing is there to decode.
const IDLE: Duration = Duration::from_micros(100);

pub(super) struct Thread {
    sampler: Box<dyn Sampler>,
    workers: Workers,
    progress: Arc<Progress>,
    programmed: Option<(Programming, Blank)>,
    running: Option<Running>,
    blanks: Vec<KnownBlank>,
}

/// An empty image, and whether the same came twice.
struct KnownBlank {
    group: Weak<SampleGroup>,
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
    /// With this hardware.
    pub(super) fn new(sampler: Box<dyn Sampler>, workers: Workers, progress: Arc<Progress>) -> Self {
        Self { sampler, workers, progress, programmed: None, running: None, blanks: Vec::new() }
    }

    /// Obeys until nobody asks any more.
    pub(super) fn run(&mut self, commands: &Receiver<Command>) {
        self.obey_all(commands);
        self.workers.close();
    }

    fn obey_all(&mut self, commands: &Receiver<Command>) {
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

    /// Stops the hardware where nothing runs and much waits, or nothing has run for long. Decodes beside a dispatch that takes more
    /// samples than there is room for.
    fn look(&mut self) {
        let now = self.sampler.now();
        let (stops, bursts) = {
            let mut running = self.progress.running.guarded();
            let Some(pending) = running.as_mut().filter(|pending| !pending.stopped) else { return };
            let waiting = self.progress.waiting(pending, now);
            // Under the lock, so that no dispatch begins meanwhile.
            let may_stop = !pending.within || pending.bursts;
            pending.stopped = may_stop && (waiting >= pending.limit || pending.rests(now));
            if !pending.stopped && waiting < pending.most {
                return;
            }
            (pending.stopped, pending.bursts)
        };
        if !stops {
            return self.portion(None);
        }
        if let Err(error) = self.sampler.stop() {
            if let Some(running) = &self.running {
                running.collected.fail(Lost::Misfit, super::failed(&error));
            }
            return;
        }
        self.decode(None);
        if bursts {
            self.burst();
        }
    }

    /// Starts again in the middle of a segment.
    fn burst(&mut self) {
        let started = self.start_hardware();
        let Some(running) = &mut self.running else { return };
        if let Err(error) = started {
            running.collected.fail(Lost::Misfit, super::failed(&error));
            return;
        }
        running.fresh = true;
        self.progress.tempo.guarded().restart();
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
            Command::Portion(reply) => self.portion(Some(&reply)),
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
        // Nobody gives back what he does not know to be programmed, and ranges would be refused.
        let empty = self.blank(programming).inspect_err(|_| self.sampler.release())?;
        self.workers.stock(&empty);
        self.progress.spoilt.store(false, Ordering::Relaxed);
        exit::programmed(Arc::as_ptr(&programming.group) as usize);
        self.programmed = Some((programming.clone(), empty));
        Ok(())
    }

    /// An empty image for what is programmed. Making one takes long, so once two of a group were the same they are held for
    /// the same ever after.
    fn blank(&mut self, programming: &Programming) -> Result<Blank, SamplerError> {
        let same = |known: &&mut KnownBlank| {
            known.group.as_ptr() == Arc::as_ptr(&programming.group) && known.samples == programming.samples
        };
        let known = self.blanks.iter_mut().find(same);
        if let Some(KnownBlank { blank, repeats: true, .. }) = &known {
            return Ok(Blank::clone(blank));
        }
        let made = self.sampler.empty_image(programming.samples)?;
        let Some(known) = known else {
            let blank = Blank::new(made);
            let (group, samples) = (Arc::downgrade(&programming.group), programming.samples);
            // Groups go with their contexts.
            self.blanks.retain(|known| known.group.strong_count() > 0);
            self.blanks.push(KnownBlank { group, samples, blank: Blank::clone(&blank), repeats: false });
            return Ok(blank);
        };
        known.repeats = *known.blank == made;
        if !known.repeats {
            known.blank = Blank::new(made);
        }
        Ok(Blank::clone(&known.blank))
    }

    /// It does not go on after an overflow, as it was programmed.
    fn start_hardware(&mut self) -> Result<(), SamplerError> {
        if !self.progress.spoilt.load(Ordering::Relaxed) && self.sampler.start().is_ok() {
            return Ok(());
        }
        if let Some((programming, _)) = &self.programmed {
            self.sampler.program(&programming.group, programming.interval)?;
            self.progress.spoilt.store(false, Ordering::Relaxed);
        }
        self.sampler.start()
    }

    fn start(&mut self) -> Result<(), SamplerError> {
        let Some((programming, empty)) = self.programmed.clone() else {
            return Err(SamplerError { call: "sampling", status: "nothing is programmed".into(), lasting: false });
        };
        // Dispatches with fences need all, which their number bounds.
        let kept = if programming.bursts { MOST_KEPT } else { usize::MAX };
        let collected = Collected::new(Arc::clone(&programming.group), kept);
        let mut pending = Pending {
            began: 0,
            left: 0,
            interval: programming.interval,
            limit: limit(programming.samples, programming.interval),
            most: most(programming.samples),
            // Until its quiet beginning is over.
            within: true,
            stopped: false,
            bursts: programming.bursts,
        };
        self.running = None;
        self.start_hardware()?;
        pending.began = self.sampler.now();
        pending.left = pending.began;
        self.running = Some(Running { collected, empty, images: 0, fresh: true });
        self.progress.tempo.guarded().restart();
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
            self.decode(None);
        }
        let Some(running) = self.running.take() else { return };
        if let Some(error) = failed {
            running.collected.fail(Lost::Misfit, super::failed(&error));
        }
        running.collected.close(running.images, closing.map(|closing| *closing));
    }

    /// Decodes what waits while the device goes on. Whoever waits for that to begin is answered.
    fn portion(&mut self, beginning: Option<&Reply>) {
        let before = self.progress.decoded.load(Ordering::Relaxed);
        if let Some(pending) = *self.progress.running.guarded() {
            // What comes from now on waits for the next decoding.
            let waiting = self.progress.waiting(&pending, self.sampler.now());
            self.progress.decoded.store(before + waiting, Ordering::Relaxed);
        }
        self.progress.decoding.store(true, Ordering::Relaxed);
        let count = self.decode(beginning);
        self.progress.decoded.store(before + count, Ordering::Relaxed);
        self.progress.decoding.store(false, Ordering::Relaxed);
    }

    /// Decodes what waits; gives how many samples that were. Whoever waits for that to begin is answered.
    fn decode(&mut self, beginning: Option<&Reply>) -> u64 {
        let Some(running) = &mut self.running else {
            // Nothing runs, and nothing waits.
            beginning.iter().for_each(|reply| drop(reply.send(Ok(()))));
            return 0;
        };
        let mut image = self.workers.image(&running.empty);
        let began = self.sampler.now();
        if let Some(reply) = beginning {
            drop(reply.send(Ok(())));
        }
        let decoded = self.sampler.decode(&mut image);
        let failed = decoded.is_err();
        let decoded = decoded.unwrap_or_else(|error| {
            running.collected.fail(Lost::Misfit, super::failed(&error));
            Decoded::default()
        });
        let lack = if decoded.overflow {
            self.progress.spoilt.store(true, Ordering::Relaxed);
            Some("the hardware's buffer was full, and samples are lost")
        } else {
            decoded.full.then_some("more samples waited than were expected, and some are lost")
        };
        self.progress.crammed.fetch_or(lack.is_some(), Ordering::Relaxed);
        let count = decoded.times.len();
        let fenced = self.programmed.as_ref().filter(|(programming, _)| !programming.bursts);
        if count >= TELLING && lack.is_none() {
            let cost = self.sampler.now().saturating_sub(began) / count as u64;
            self.progress.learn_cost(running.collected.group(), cost);
            if fenced.is_some_and(|(programming, _)| falls_behind(cost, programming.interval)) {
                // Now, before there are values to read and the others that do that begin.
                leave_cpu(Some(self.progress.asker.load(Ordering::Relaxed)));
            }
        }
        if let (Some((_, first)), Some((_, end)), Some((programming, _))) =
            (decoded.times.first(), decoded.times.last(), &self.programmed)
        {
            self.progress.tempo.guarded().saw(*first, *end, programming.interval);
        }
        if count == 0 {
            if failed || lack.is_some() {
                // It may hold a part of what is lost.
                image.copy_from_slice(&running.empty);
            }
            self.workers.unused(&running.empty, image);
        } else {
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
        // Between bursts samples are missing anyway.
        if let Some(why) = lack.filter(|_| fenced.is_some()) {
            running.collected.lack(running.images, why);
            // The segment should end: all that comes now is lost to it.
            if let Some(pending) = &mut *self.progress.running.guarded() {
                pending.limit = 0;
            }
        }
        count as u64
    }
}
