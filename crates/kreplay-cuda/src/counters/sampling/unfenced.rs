//! Sampling without fences: kernels run as the program launches them, and their counts are approximate.
//!
//! Events on the program's streams tell when each kernel ran; what they say is brought to the samples' clock by an event
//! that was recorded while the device was idle.

use super::collect::{Closing, Work};
use super::segment::Samples;
use super::shares::shares;
use super::{Programming, Sampling, failed, pace};
use crate::agent::CudaAgent;
use crate::counters::gather::Gather;
use crate::counters::no_window;
use crate::counters::planning::names::EVENT_TIME;
use crate::counters::planning::sample_group::SampleGroup;
use crate::counters::ranges::evaluate::exact;
use crate::tables::{Cupti, Event};
use kreplay_engine::sampling::Fence;
use kreplay_engine::{AgentError, CountersError, Delivery, PlannedCounter, Reading, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long the event that clocks are brought together by may take.
const BASE_DEADLINE: Duration = Duration::from_secs(1);
/// How closely that should be, in nanoseconds.
const CLOSE: u64 = 8_000;

/// How often the clocks are brought together at the beginning: the closest time counts.
const TRIES: u32 = 5;

/// Pairs of events, one for each dispatch, and one to measure from; kept for the next pass.
#[derive(Default)]
pub(in crate::counters) struct Events {
    base: Option<Event>,
    pairs: Vec<(Event, Event)>,
}

/// A pass that runs.
pub(in crate::counters) struct UnfencedPass {
    group: Arc<SampleGroup>,
    counters: Arc<[PlannedCounter]>,
    number: u32,
    /// Its dispatches are replays, on the agent's own stream.
    replayed: bool,
    gather: Gather,
    /// When the base event was recorded, by the samples' clock, and how far that may be off.
    base: u64,
    slack: u64,
    ran: u32,
}

impl Sampling {
    /// A pass begins on an idle device.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn begin_unfenced(
        &self,
        (group, counters): (&Arc<SampleGroup>, &Arc<[PlannedCounter]>),
        (number, replayed): (u32, bool),
        gather: &Gather,
        (agent, cupti, events): (&CudaAgent, &Cupti, &mut Events),
    ) -> Result<UnfencedPass, CountersError> {
        if let Some(why) = self.given_up() {
            return Err(CountersError::Unavailable(why));
        }
        // Nothing waits for the decoding: where it does not keep up some samples are not taken.
        let interval = pace::unfenced(self.typical.load(Ordering::Relaxed), group.is_far());
        self.program(&Programming { group: Arc::clone(group), interval, samples: pace::SAMPLES, bursts: true })?;
        let now = || cupti.now().map_err(crate::counters::ranges::evaluate::failed);
        let base = match events.base {
            Some(base) => base,
            None => *events.base.insert(agent.timing_events().map_err(timing)?.0),
        };
        let (mut at, mut slack) = (0, u64::MAX);
        for _ in 0..TRIES {
            let before = now()?;
            agent.mark_pass(base, false).map_err(timing)?;
            agent.wait_pass(Instant::now() + BASE_DEADLINE, "an event", false).map_err(timing)?;
            let after = now()?;
            // Only the last recording counts, so the loop ends with the first good one.
            (at, slack) = (before + (after - before) / 2, (after - before) / 2);
            if slack < CLOSE {
                break;
            }
        }
        self.unit.begin().map_err(|error| failed(&error))?;
        // The thread decodes as it goes, and does not end the segment by itself.
        self.unit.enter();
        Ok(UnfencedPass {
            group: Arc::clone(group),
            counters: Arc::clone(counters),
            number,
            replayed,
            gather: gather.clone(),
            base: at,
            slack,
            ran: 0,
        })
    }

    /// The pass ends; its work is done.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn end_unfenced(
        &self,
        pass: UnfencedPass,
        agent: &CudaAgent,
        events: &Events,
    ) -> Result<(), CountersError> {
        let spans = pass.spans(agent, events);
        let closing = match spans {
            Ok(spans) if !spans.is_empty() => {
                let mut lengths: Vec<u64> = spans.iter().map(|span| span.to - span.from).collect();
                lengths.sort_unstable();
                self.typical.store(lengths[lengths.len() / 2].max(1), Ordering::Relaxed);
                let part = pass.gather.part(&self.owed);
                Some(Closing { work: pass.work(spans), part, ended: Box::new(|_| {}) })
            }
            Ok(_) => None,
            Err(error) => {
                self.abandon();
                return Err(error);
            }
        };
        self.unit.stop(closing).map_err(|error| failed(&error))
    }
}

impl UnfencedPass {
    /// Dispatch `index` follows on the stream that this thread launches on, or on the agent's.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn before(
        &mut self,
        agent: &CudaAgent,
        events: &mut Events,
        index: u32,
    ) -> Result<(), CountersError> {
        while events.pairs.len() <= index as usize {
            events.pairs.push(agent.timing_events().map_err(timing)?);
        }
        self.mark(agent, events.pairs[index as usize].0)
    }

    fn mark(&self, agent: &CudaAgent, event: Event) -> Result<(), CountersError> {
        let marked = if self.replayed { agent.mark_pass(event, false) } else { agent.mark_launch(event) };
        marked.map_err(timing)
    }

    /// Dispatch `index` was submitted.
    ///
    /// # Errors
    /// [`CountersError`].
    pub(in crate::counters) fn after(
        &mut self,
        agent: &CudaAgent,
        events: &Events,
        index: u32,
    ) -> Result<(), CountersError> {
        let pair = events.pairs.get(index as usize).ok_or_else(no_window)?;
        self.mark(agent, pair.1)?;
        self.ran = index + 1;
        Ok(())
    }

    /// When each dispatch ran, by the samples' clock.
    fn spans(&self, agent: &CudaAgent, events: &Events) -> Result<Vec<Fence>, CountersError> {
        let base = events.base.ok_or_else(no_window)?;
        let time = |event| -> Result<u64, CountersError> {
            let elapsed = f64::from(agent.elapsed(base, event).map_err(timing)?) * 1e6;
            Ok(self.base + elapsed.max(0.0) as u64)
        };
        events.pairs[..self.ran as usize]
            .iter()
            .map(|(from, to)| Ok(Fence { from: time(*from)?, to: time(*to)? }))
            .collect()
    }

    fn work(self, spans: Vec<Fence>) -> Work {
        Box::new(move |samples| Ok(Delivery { readings: self.readings(samples, &spans), lost: Vec::new() }))
    }

    fn readings(&self, samples: &Samples, spans: &[Fence]) -> Vec<Reading> {
        let shares = shares(samples, self.group.terms.len(), spans, self.slack);
        let mut readings = Vec::new();
        for ((dispatch, span), share) in (0..).zip(spans).zip(shares) {
            let reading = |name: &Arc<str>, unit: &Arc<str>, value, derived, bound| Reading {
                dispatch,
                pass: self.number,
                counter: Arc::clone(name),
                unit: Arc::clone(unit),
                value,
                derived,
                bound,
            };
            let time = (span.to - span.from) as f64;
            for counter in self.counters.iter() {
                if &*counter.name == EVENT_TIME {
                    readings.push(reading(&counter.name, &counter.unit, Value::Real(time), false, None));
                    continue;
                }
                let Some(share) = &share else { continue };
                let Some(at) = self.group.metrics.iter().position(|metric| *metric == counter.name) else { continue };
                let formula = &self.group.formulas[at];
                let place = |term: &str| self.group.place(term);
                let value = formula.value(|term| place(term).map_or(f64::NAN, |place| share.sums[place]));
                let bound = formula.bound(|term| place(term).and_then(|place| share.bound(place)));
                if let (Some(value), Some(bound)) = (value, bound) {
                    let value = if bound == 0.0 { exact(&counter.name, value) } else { Value::Real(value) };
                    readings.push(reading(&counter.name, &counter.unit, value, formula.is_derived(), Some(bound)));
                }
            }
        }
        readings
    }
}

fn timing(error: AgentError) -> CountersError {
    CountersError::Failed { call: "timing by events", status: error.to_string() }
}
