//! Sampling without fences: kernels run as the program launches them, and their counts are approximate.
//!
//! Events on the program's streams tell when each kernel ran; what they say is brought to the samples' clock by two events
//! that were recorded while the agent's stream was idle, before the first kernel and behind the last.

use super::clocks::{Clocks, Stamp};
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

/// Pairs of events, one for each dispatch, and those that clocks are brought together by; kept for the next pass.
#[derive(Default)]
pub(in crate::counters) struct Events {
    ends: Option<(Event, Event)>,
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
    /// The event before the first dispatch.
    base: Stamp,
    ran: u32,
}

/// When a dispatch ran, and for how many nanoseconds by its own events: these are as good in a long window as in a short one.
struct Ran {
    span: Fence,
    length: f64,
}

/// Brings the clocks together.
///
/// # Errors
/// [`CountersError`].
fn stamp(agent: &CudaAgent, cupti: &Cupti, event: Event) -> Result<Stamp, CountersError> {
    let now = || cupti.now().map_err(crate::counters::ranges::evaluate::failed);
    let mut stamp = Stamp { at: 0, slack: u64::MAX };
    for _ in 0..TRIES {
        let before = now()?;
        agent.mark_pass(event, false).map_err(timing)?;
        agent.wait_pass(Instant::now() + BASE_DEADLINE, "an event", false).map_err(timing)?;
        let half = now()?.saturating_sub(before) / 2;
        // Only the last recording counts, so the loop ends with the first good one.
        stamp = Stamp { at: before + half, slack: half };
        if half < CLOSE {
            break;
        }
    }
    Ok(stamp)
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
        let (first, _) = match events.ends {
            Some(ends) => ends,
            None => *events.ends.insert(agent.timing_events().map_err(timing)?),
        };
        let base = stamp(agent, cupti, first)?;
        self.unit.begin().map_err(|error| failed(&error))?;
        // The thread decodes as it goes, and does not end the segment by itself.
        self.unit.enter();
        Ok(UnfencedPass {
            group: Arc::clone(group),
            counters: Arc::clone(counters),
            number,
            replayed,
            gather: gather.clone(),
            base,
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
        (agent, cupti): (&CudaAgent, &Cupti),
        events: &Events,
    ) -> Result<(), CountersError> {
        let closing = match pass.ran(agent, cupti, events) {
            Ok((ran, slack)) if !ran.is_empty() => {
                let mut lengths: Vec<u64> = ran.iter().map(|ran| ran.length as u64).collect();
                lengths.sort_unstable();
                self.typical.store(lengths[lengths.len() / 2].max(1), Ordering::Relaxed);
                let part = pass.gather.part(&self.owed);
                Some(Closing { work: pass.work(ran, slack), part, ended: Box::new(|_| {}) })
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

    /// When each dispatch ran, by the samples' clock, and how far that may be off.
    fn ran(&self, agent: &CudaAgent, cupti: &Cupti, events: &Events) -> Result<(Vec<Ran>, u64), CountersError> {
        let (first, last) = events.ends.ok_or_else(no_window)?;
        let elapsed = |from, to| agent.elapsed(from, to).map(|time| f64::from(time) * 1e6).map_err(timing);
        let pairs = &events.pairs[..self.ran as usize];
        // From each to the next: the driver tells times of many seconds no finer than microseconds.
        let (mut since, mut before) = (0.0, first);
        let mut times: Vec<(f64, f64)> = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            since += elapsed(before, *from)?;
            before = *from;
            times.push((since, elapsed(*from, *to)?.max(0.0)));
        }
        let end = stamp(agent, cupti, last)?;
        let clocks = Clocks::new(self.base, end, since + elapsed(before, last)?)?;
        let ran = |(since, length): (f64, f64)| {
            let span = Fence { from: clocks.at(since), to: clocks.at(since + length) };
            Ran { span, length }
        };
        Ok((times.into_iter().map(ran).collect(), clocks.slack()))
    }

    fn work(self, ran: Vec<Ran>, slack: u64) -> Work {
        Box::new(move |samples| Ok(Delivery { readings: self.readings(samples, &ran, slack), lost: Vec::new() }))
    }

    fn readings(&self, samples: &Samples, ran: &[Ran], slack: u64) -> Vec<Reading> {
        let spans: Vec<Fence> = ran.iter().map(|ran| ran.span).collect();
        let shares = shares(samples, self.group.terms.len(), &spans, slack);
        let mut readings = Vec::new();
        for ((dispatch, ran), share) in (0..).zip(ran).zip(shares) {
            let reading = |name: &Arc<str>, unit: &Arc<str>, value, derived, bound| Reading {
                dispatch,
                pass: self.number,
                counter: Arc::clone(name),
                unit: Arc::clone(unit),
                value,
                derived,
                bound,
            };
            for counter in self.counters.iter() {
                if &*counter.name == EVENT_TIME {
                    readings.push(reading(&counter.name, &counter.unit, Value::Real(ran.length), false, None));
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
