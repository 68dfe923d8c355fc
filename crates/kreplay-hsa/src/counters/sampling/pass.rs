//! One sampled pass.

use super::segment::Segment;
use super::{Programmed, Samples, Sampling};
use kreplay_engine::sampling::{Fences, Ground};
use kreplay_engine::{CountersError, PlannedPass};
use std::time::Duration;

/// Samples that the device's buffer holds: more than it takes while a dispatch of seconds runs.
const CAPACITY: usize = 1 << 18;
/// Intervals that pass between two dispatches: more than two, so that an idle one lies between what belongs to them, and
/// that stray activity in the gap cannot share an interval with both.
const GAP: u64 = 4;
/// A part of the buffer's time after which the stream is begun anew, nanoseconds being let for the next dispatch.
const PART: u64 = 8;

/// A pass that is being sampled.
#[derive(Debug)]
pub(in crate::counters) struct SampledPass {
    pub(in crate::counters) pass: PlannedPass,
    events: Vec<(u32, u32)>,
    interval: u64,
    configuration: u64,
    fences: Option<Fences>,
    current: Segment,
    done: Vec<Segment>,
    longest: u64,
}

/// What a sampled pass counted: for each dispatch the sums by block and event.
pub(in crate::counters) type Sums = Vec<(u32, Vec<((u32, u32), u64)>)>;

impl Sampling {
    /// Programs the group, if it is not, and begins the stream on an idle device.
    pub(in crate::counters) fn begin(
        &self,
        pass: PlannedPass,
        events: Vec<(u32, u32)>,
        ground: &mut impl Ground<Error = CountersError>,
    ) -> Result<SampledPass, CountersError> {
        ground.idle()?;
        let mut state = self.lock();
        let interval = state.pace.interval();
        let configuration = match &state.programmed {
            Some(known) if known.events == events && known.interval == interval => known.number,
            _ => {
                state.programmed = None;
                let number = self.source.configure(&events, interval, CAPACITY)?;
                state.programmed = Some(Programmed { events: events.clone(), interval, number });
                number
            }
        };
        drop(state);
        let mut pass = SampledPass {
            pass,
            interval,
            configuration,
            fences: None,
            current: Segment::default(),
            done: Vec::new(),
            longest: 0,
            events,
        };
        self.start(&mut pass, ground)?;
        Ok(pass)
    }

    fn start(
        &self,
        pass: &mut SampledPass,
        ground: &mut impl Ground<Error = CountersError>,
    ) -> Result<(), CountersError> {
        self.source.start()?;
        let gap = Duration::from_nanos(pass.interval * GAP);
        ground.pass(gap);
        pass.fences = Some(Fences::new(gap, ground));
        let samples = Samples { width: pass.events.len(), ..Samples::default() };
        pass.current = Segment { samples, configuration: pass.configuration, ..Segment::default() };
        Ok(())
    }

    /// The segment ends. What it needs was read after its last dispatch.
    fn stop(&self, pass: &mut SampledPass) {
        self.source.stop();
        if let Some(fences) = pass.fences.take() {
            let mut segment = std::mem::take(&mut pass.current);
            (segment.fences, segment.others) = (fences.done, fences.others);
            pass.done.push(segment);
        }
    }

    /// Dispatch `index` follows.
    pub(in crate::counters) fn before(
        &self,
        pass: &mut SampledPass,
        index: u32,
        ground: &mut impl Ground<Error = CountersError>,
    ) -> Result<(), CountersError> {
        let full = pass.interval * CAPACITY as u64 / PART;
        if pass.fences.as_ref().is_some_and(|fences| ground.now() - fences.clear() > full) {
            self.stop(pass);
            ground.idle()?;
            self.start(pass, ground)?;
        }
        let Some(fences) = &mut pass.fences else { return Err(super::super::seam::no_pass()) };
        fences.before(ground, |_| None)?;
        pass.current.dispatches.push(index);
        Ok(())
    }

    /// The dispatch was submitted.
    pub(in crate::counters) fn after(
        &self,
        pass: &mut SampledPass,
        ground: &mut impl Ground<Error = CountersError>,
    ) -> Result<(), CountersError> {
        let Some(fences) = &mut pass.fences else { return Err(super::super::seam::no_pass()) };
        let took = fences.after(ground, |_| None)?;
        pass.longest = pass.longest.max(took);
        self.source.read(&mut pass.current.samples)
    }

    /// The pass ends: what its dispatches counted.
    ///
    /// # Errors
    /// [`CountersError::Discarded`]: nothing of it can be believed.
    pub(in crate::counters) fn end(&self, mut pass: SampledPass) -> Result<Sums, CountersError> {
        self.stop(&mut pass);
        self.lock().pace.saw(pass.longest);
        let mut sums = Vec::new();
        for segment in &pass.done {
            match segment.sums() {
                Ok(own) => sums.extend(own),
                Err(error) => {
                    self.misfits(&error.to_string());
                    return Err(error);
                }
            }
        }
        let by_event = |values: Vec<u64>| pass.events.iter().copied().zip(values).collect();
        Ok(sums.into_iter().map(|(dispatch, values)| (dispatch, by_event(values))).collect())
    }

    /// The pass is given up.
    pub(in crate::counters) fn abandon(&self, mut pass: SampledPass) {
        self.stop(&mut pass);
    }
}
