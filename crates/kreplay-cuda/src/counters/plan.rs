//! The passes of a request, and which programming each belongs to.

use super::host::Host;
use super::names::resolve;
use super::planner::{Group, Planner};
use crate::tables::Cupti;
use kreplay_engine::{Plan, PlanError, PlannedCounter, PlannedPass, Request, Way};
use std::sync::Arc;
use std::time::Duration;

/// A group run once: its passes follow each other.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) group: Arc<Group>,
    pub(super) counters: Arc<[PlannedCounter]>,
    /// Index of its first pass.
    pub(super) first: u32,
}

/// A plan with what is needed to run it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) instances: Vec<Instance>,
}

/// The name of the time that is taken without counters.
pub(crate) const EVENT_TIME: &str = "gpu_time";

/// Plans a request for a chip.
///
/// # Errors
/// [`PlanError`].
pub(super) fn plan(cupti: &Cupti, chip: &str, availability: &[u8], request: &Request) -> Result<Planned, PlanError> {
    let host = Host::new(cupti, chip, availability)
        .map_err(|error| PlanError::Unavailable(format!("{error} (chip {chip})")))?;
    let metrics = resolve(&host, &request.names)?;
    let mut planned = Planned { plan: Plan::default(), instances: Vec::new() };
    if metrics.is_empty() {
        return Ok(planned);
    }
    for group in (Planner { cupti, chip, availability }).pack(&metrics)? {
        let counters: Arc<[PlannedCounter]> = group.metrics.iter().map(|name| planned_counter(&host, name)).collect();
        let group = Arc::new(group);
        for _ in 0..request.repeat.max(1) {
            let first = planned.plan.passes.len() as u32;
            for pass in 0..group.config.passes {
                planned.plan.passes.push(PlannedPass {
                    index: first + pass,
                    counters: counters.to_vec(),
                    way: Way::Ranges,
                    price: group.price.duration(),
                });
            }
            planned.instances.push(Instance { group: Arc::clone(&group), counters: Arc::clone(&counters), first });
        }
    }
    Ok(planned)
}

/// Plans a request for a chip of which nothing else is known.
///
/// # Errors
/// [`PlanError`].
pub(crate) fn plan_request(cupti: &Cupti, chip: &str, request: &Request) -> Result<Plan, PlanError> {
    plan(cupti, chip, &[], request).map(|planned| planned.plan)
}

/// The plan where nothing may be counted: times by events.
pub(super) fn timing_plan(request: &Request) -> Planned {
    let counter = PlannedCounter { name: EVENT_TIME.into(), block: "event".into(), unit: "ns".into() };
    let passes = (0..request.repeat.max(1))
        .map(|index| PlannedPass {
            index,
            counters: vec![counter.clone()],
            way: Way::Timing,
            price: Duration::from_micros(15),
        })
        .collect();
    Planned { plan: Plan { passes }, instances: Vec::new() }
}

fn planned_counter(host: &Host<'_>, name: &Arc<str>) -> PlannedCounter {
    let known = host.properties(name).ok();
    let block = known.as_ref().map_or_else(|| "".into(), |known| Arc::clone(&known.block));
    let unit = known.map_or_else(|| "".into(), |known| known.unit);
    PlannedCounter { name: Arc::clone(name), block, unit }
}

impl Planned {
    /// The instance of a pass, and the pass's place in it.
    pub(super) fn place(&self, pass: u32) -> Option<(usize, u32)> {
        let at = self.instances.iter().rposition(|instance| instance.first <= pass)?;
        let within = pass - self.instances[at].first;
        (within < self.instances[at].group.config.passes).then_some((at, within))
    }
}
