//! A pass that is sampled with fences: segments, one after the other.

use super::collect::Closing;
use super::segment::{self, Segment};
use super::{OfAgent, Programming, Sampling, failed, pace};
use crate::counters::Guarded;
use crate::counters::gather::Gather;
use crate::counters::planning::sample_group::SampleGroup;
use kreplay_engine::sampling::{Beat, Fences, Ground};
use kreplay_engine::{CountersError, PlannedCounter};
use std::sync::Arc;
use std::time::Duration;

/// How long the hardware may take to begin.
const FIRST: Duration = Duration::from_micros(100);
/// … and how long it goes on to move something in L2 and memory: some thousand sectors within 160 µs, on an H200.
const FIRST_FAR: Duration = Duration::from_micros(240);
/// Intervals that pass before the first dispatch: the first sample reaches back to before the start, and is thrown away.
const QUIET: u64 = 3;

/// A pass that runs.
pub(in crate::counters) struct SampledPass {
    /// Which one its window is of those that were sampled on the device.
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
    /// Pass `number` begins, on an idle device.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn begin<G: Ground>(
        &self,
        (group, counters): (&Arc<SampleGroup>, &Arc<[PlannedCounter]>),
        number: u32,
        (dispatches, window): (u32, OfAgent),
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
            window: self.counted.guarded().number(window),
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
        self.unit.leave(ground.now());
        Ok(pass)
    }

    /// Begins a segment. Its quiet beginning counts as within a fence, however long it is.
    fn start<G: Ground>(&self, pass: &mut SampledPass, ground: &mut G) -> Result<(), CountersError> {
        self.unit.begin().map_err(|error| failed(&error))?;
        let gap = pace::gap(pass.interval);
        let first = if pass.group.is_far() { FIRST_FAR } else { FIRST };
        ground.pass(first.max(Duration::from_nanos(pass.interval * QUIET)));
        pass.first = pass.next;
        pass.fences = Fences::new(gap, ground);
        Ok(())
    }

    /// Dispatch `index` follows.
    ///
    /// # Errors
    /// That of the wait.
    pub(in crate::counters) fn before<G: Ground<Error = CountersError>>(
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
        }
        pass.fences.before(ground, |now| self.unit.beat(now))
    }

    /// The dispatch was submitted. Begins another segment where many samples wait.
    ///
    /// # Errors
    /// That of the wait, or the hardware's.
    pub(in crate::counters) fn after<G: Ground<Error = CountersError>>(
        &self,
        pass: &mut SampledPass,
        ground: &mut G,
    ) -> Result<(), CountersError> {
        // Now and then whole samples are idle, which shows what else runs on the device.
        let looks = pass.next.is_multiple_of(pace::LOOK);
        let took = pass.fences.after(ground, |now| self.unit.beat(now).filter(|_| !looks))?;
        let now = ground.now();
        pass.next += 1;
        let outgrew = pace::outgrows(took, pass.interval, pass.samples);
        if outgrew || self.unit.crowded(now) {
            self.stop(pass)?;
            if outgrew {
                self.slow_down(pass, took)?;
            }
            self.start(pass, ground)?;
        } else if self.unit.portion_due(now) {
            let settled = pace::settled(pass.interval);
            ground.pass(settled);
            self.unit.portion().map_err(|error| failed(&error))?;
            ground.pass(settled);
        }
        self.unit.leave(ground.now());
        Ok(())
    }

    /// A dispatch took so long, in nanoseconds, that its samples are lost: those of the next one like it will not be.
    fn slow_down(&self, pass: &mut SampledPass, took: u64) -> Result<(), CountersError> {
        self.pace.guarded().saw(took, pass.samples);
        let interval = self.interval(&pass.group, Some(pass.interval));
        let group = Arc::clone(&pass.group);
        self.program(&Programming { group, interval, samples: pass.samples, bursts: false })?;
        // What was too much for the image has been decoded by now, and is no reason for an interval that is longer still.
        self.unit.take_crammed();
        pass.interval = interval;
        Ok(())
    }

    /// The pass ends; its work is done.
    ///
    /// # Errors
    /// The hardware's.
    pub(in crate::counters) fn end<G: Ground>(
        &self,
        mut pass: SampledPass,
        ground: &mut G,
    ) -> Result<(), CountersError> {
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
            part: pass.gather.part(&self.owed).of(pass.first..pass.next),
            ended: Box::new(move |failed| {
                if let Some((lost, why)) = failed {
                    trouble.guarded().in_window(window, lost, why);
                }
            }),
        };
        self.unit.stop(Some(closing)).map_err(|error| failed(&error))
    }
}
