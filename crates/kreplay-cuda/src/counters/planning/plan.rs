//! The passes of a request, and which programming each belongs to.

use super::answers::Known;
use super::choice::choose;
use super::host::Host;
use super::names::{EVENT_TIME, resolve};
use super::planner::Planner;
use super::range_group::Group;
use super::sample_group::SampleGroup;
use crate::tables::{Cupti, CuptiError};
use kreplay_engine::{Plan, PlanError, PlannedCounter, PlannedPass, Request, Way};
use std::sync::Arc;
use std::time::Duration;

/// A group of ranges run once: its passes follow each other.
#[derive(Clone, Debug)]
pub(in crate::counters) struct Instance {
    pub(in crate::counters) group: Arc<Group>,
    pub(in crate::counters) counters: Arc<[PlannedCounter]>,
    /// Index of its first pass.
    pub(in crate::counters) first: u32,
}

impl Instance {
    /// Index of its last pass, under which its values are told.
    pub(in crate::counters) fn last(&self) -> u32 {
        self.first + self.group.config.passes - 1
    }
}

/// A pass that samples.
#[derive(Clone, Debug)]
pub(in crate::counters) struct Sampled {
    pub(in crate::counters) group: Arc<SampleGroup>,
    pub(in crate::counters) counters: Arc<[PlannedCounter]>,
    /// Index of the pass.
    pub(in crate::counters) pass: u32,
}

/// A plan with what is needed to run it.
#[derive(Clone, Debug, Default)]
pub(in crate::counters) struct Planned {
    pub(in crate::counters) plan: Plan,
    pub(in crate::counters) instances: Vec<Instance>,
    pub(in crate::counters) sampled: Vec<Sampled>,
}

/// What a dispatch costs where only its time is taken.
const TIMING: Duration = Duration::from_micros(25);
/// … where it is sampled as it runs: two events.
const UNFENCED: Duration = Duration::from_micros(5);

/// Plans a request for a chip.
///
/// # Errors
/// [`PlanError`].
pub(in crate::counters) fn plan(planner: &Planner<'_>, request: &Request) -> Result<Planned, PlanError> {
    let host = Host::new(planner.cupti, planner.chip, planner.availability)
        .map_err(|error| PlanError::Unavailable(format!("{error} (chip {})", planner.chip)))?;
    let mut metrics = resolve(&host, &request.names)?;
    let asked = metrics.len();
    metrics.retain(|metric| &**metric != EVENT_TIME);
    let repeat = request.repeat.max(1);
    let dispatches = request.dispatches.max(1);
    // Times first: they also tell sampling how long the kernels are.
    let mut planned = if asked > metrics.len() { timing_plan(request) } else { Planned::default() };
    if metrics.is_empty() {
        return Ok(planned);
    }
    let mut choice = choose(planner, &metrics, dispatches)?;
    let price = choice.each_sampled(dispatches);
    for group in std::mem::take(&mut choice.sampled) {
        let counters = counters(&host, &group.metrics);
        let group = Arc::new(group);
        for _ in 0..repeat {
            let pass = planned.push(&counters, Way::Sampling, price);
            planned.sampled.push(Sampled { group: Arc::clone(&group), counters: Arc::clone(&counters), pass });
        }
    }
    for group in choice.ranges {
        let counters = counters(&host, &group.metrics);
        let group = Arc::new(group);
        for _ in 0..repeat {
            let first = planned.plan.passes.len() as u32;
            for _ in 0..group.config.passes {
                planned.push(&counters, Way::Ranges, group.each(dispatches));
            }
            planned.instances.push(Instance { group: Arc::clone(&group), counters: Arc::clone(&counters), first });
        }
    }
    Ok(planned)
}

/// Plans a request for a single pass without fences.
///
/// # Errors
/// [`PlanError`] where it does not fit one.
pub(in crate::counters) fn plan_unfenced(planner: &Planner<'_>, request: &Request) -> Result<Planned, PlanError> {
    let unavailable = |error: CuptiError| PlanError::Unavailable(format!("{error} (chip {})", planner.chip));
    let host = Host::new(planner.cupti, planner.chip, planner.availability).map_err(unavailable)?;
    let asked = resolve(&host, &request.names)?;
    let metrics: Vec<Arc<str>> = asked.iter().filter(|metric| &***metric != EVENT_TIME).cloned().collect();
    if metrics.is_empty() {
        return Ok(if asked.is_empty() { Planned::default() } else { timing_plan(request) });
    }
    let group = planner.one_group(&metrics)?;
    let mut reported = counters(&host, &group.metrics).to_vec();
    if asked.len() > metrics.len() {
        // The events that tell when a kernel ran tell its time too.
        reported.push(event_time());
    }
    let mut planned = Planned::default();
    let pass = planned.push(&reported, Way::Sampling, UNFENCED);
    planned.sampled.push(Sampled { group: Arc::new(group), counters: reported.into(), pass });
    Ok(planned)
}

/// Plans a request for a chip of which nothing else is known than the answers of earlier requests, with or without a `fence` around
/// each dispatch.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn plan_request(
    cupti: &Cupti,
    chip: &str,
    request: &Request,
    fence: bool,
    known: &Arc<Known>,
) -> Result<Plan, PlanError> {
    let lacks = cupti.lacks_sampling();
    let sampling = lacks.is_none().then_some(&[][..]);
    let mut planner = Planner::new(cupti, chip, &[], sampling);
    planner.unsampled = lacks.map(|call| format!("this CUPTI lacks {call}").into());
    planner.known = Arc::clone(known);
    let planned = if fence { plan(&planner, request)? } else { plan_unfenced(&planner, request)? };
    Ok(planned.plan)
}

/// The plan where nothing may be counted: times by events.
pub(in crate::counters) fn timing_plan(request: &Request) -> Planned {
    let counter = event_time();
    let mut planned = Planned::default();
    for _ in 0..request.repeat.max(1) {
        planned.push(std::slice::from_ref(&counter), Way::Timing, TIMING);
    }
    planned
}

fn event_time() -> PlannedCounter {
    PlannedCounter { name: EVENT_TIME.into(), block: "event".into(), unit: "ns".into() }
}

fn counters(host: &Host<&Cupti>, metrics: &[Arc<str>]) -> Arc<[PlannedCounter]> {
    metrics.iter().map(|name| planned_counter(host, name)).collect()
}

fn planned_counter(host: &Host<&Cupti>, name: &Arc<str>) -> PlannedCounter {
    let known = host.properties(name).ok();
    let block = known.as_ref().map_or_else(|| "".into(), |known| Arc::clone(&known.block));
    let unit = known.map_or_else(|| "".into(), |known| known.unit);
    PlannedCounter { name: Arc::clone(name), block, unit }
}

impl Planned {
    /// The same passes with ranges in the place of sampling, where the metrics of a sampled pass fit one pass of ranges; the
    /// others are left without a way to count them.
    pub(in crate::counters) fn without_sampling(&self, planner: &Planner<'_>) -> Self {
        let by_ranges = |sampled: &Sampled| {
            let group = planner.one_pass(&sampled.group.metrics)?;
            Some(Instance { group: Arc::new(group), counters: Arc::clone(&sampled.counters), first: sampled.pass })
        };
        let mut instances: Vec<Instance> = self.sampled.iter().filter_map(by_ranges).collect();
        instances.extend(self.instances.iter().cloned());
        instances.sort_by_key(|instance| instance.first);
        Self { plan: self.plan.clone(), instances, sampled: Vec::new() }
    }

    fn push(&mut self, counters: &[PlannedCounter], way: Way, price: Duration) -> u32 {
        let index = self.plan.passes.len() as u32;
        self.plan.passes.push(PlannedPass { index, counters: counters.to_vec(), way, price });
        index
    }

    /// The instance of a pass by ranges, and the pass's place in it.
    pub(in crate::counters) fn place(&self, pass: u32) -> Option<(usize, u32)> {
        let at = self.instances.iter().rposition(|instance| instance.first <= pass)?;
        let within = pass - self.instances[at].first;
        (within < self.instances[at].group.config.passes).then_some((at, within))
    }

    /// The sampled pass that runs in the place of this one. With `backwards` they run in the opposite order, so that the
    /// last group of one window is the first of the next and need not be programmed again.
    pub(in crate::counters) fn sampled(&self, pass: u32, backwards: bool) -> Option<&Sampled> {
        let at = self.sampled.iter().position(|sampled| sampled.pass == pass)?;
        self.sampled.get(if backwards { self.sampled.len() - 1 - at } else { at })
    }
}
