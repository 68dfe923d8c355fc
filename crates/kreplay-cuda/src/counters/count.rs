//! The engine's counters of an agent: the seam, which hands each pass to its way of counting.

use super::alone;
use super::device::Availability;
use super::evaluate::{Evaluator, Job};
use super::gather::{Gather, Warn};
use super::host::Host;
use super::lock::GpuLock;
use super::plan::{Planned, plan, plan_unfenced, timing_plan};
use super::planner::Planner;
use super::ranges::{RangePass, RangeWindow, Ranges, ending};
use super::room::most_dispatches;
use super::sampling::{Device, Events, SampledPass, Sampling, UnfencedPass};
use super::sets::SETS;
use super::timing::{TimedPass, Timing};
use super::{Guarded, no_window};
use crate::agent::CudaAgent;
use crate::tables::Cupti;
use kreplay_engine::{
    CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Reading, Request, Way,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What is done around passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conduct {
    /// Whether the second-level cache is filled with other data before each dispatch.
    pub(crate) flush_cache: bool,
    /// Whether sampled dispatches are kept apart, so that their counts are exact.
    pub(crate) fence: bool,
    /// How long a pass may take.
    pub(crate) pass_deadline: Duration,
    /// How long another process may hold the GPU's counters.
    pub(crate) lock_deadline: Duration,
}

/// An agent's counters.
pub(crate) struct CudaCounters {
    cupti: Arc<Cupti>,
    agent: CudaAgent,
    availability: Availability,
    conduct: Conduct,
    lock: GpuLock,
    plans: Mutex<Vec<Arc<Planned>>>,
    evaluator: Evaluator,
    state: Mutex<State>,
    ranges: Ranges,
    /// `None`: nothing can be sampled.
    sampling: Option<Arc<Sampling>>,
    /// Plans whose sampled passes are counted by ranges, by the plan that they stand for.
    instead: Mutex<Vec<(Arc<Planned>, Arc<Planned>)>>,
    warn: Warn,
}

#[derive(Default)]
struct State {
    window: Option<Window>,
    timing: Timing,
    events: Events,
    /// Windows so far.
    windows: u64,
    /// A pass did not end: nothing may be asked of the hardware any more.
    stuck: bool,
}

struct Window {
    planned: Arc<Planned>,
    /// Most dispatches that it may hold.
    dispatches: u32,
    /// Which one it is.
    number: u64,
    gather: Gather,
    ranges: RangeWindow,
    /// The GPU's lock is held: from the first counted pass on.
    locked: bool,
    current: Option<(u32, Current)>,
    readings: Vec<Reading>,
}

/// The pass that runs, by its way of counting.
enum Current {
    Ranges(RangePass),
    Sampling(Box<SampledPass>),
    Unfenced(Box<UnfencedPass>),
    Timing(TimedPass),
}

impl CudaCounters {
    /// The counters of an agent.
    ///
    /// # Errors
    /// When the GPU's lock file cannot be opened.
    pub(crate) fn new(
        cupti: Arc<Cupti>,
        agent: CudaAgent,
        availability: Availability,
        conduct: Conduct,
        warn: Warn,
    ) -> Result<Self, CountersError> {
        let lock = GpuLock::new(agent.uuid()).map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let evaluator =
            Evaluator::new(Arc::clone(&cupti), Arc::clone(&availability.chip), Arc::clone(&availability.image));
        let entered = alone::enter(agent.uuid());
        if !entered.map_err(|error| CountersError::Unavailable(error.to_string()))? {
            return Err(CountersError::Unavailable(
                "another kreplay process samples this GPU; only one can at a time".into(),
            ));
        }
        let ranges = Ranges::new(Arc::clone(&cupti), agent.clone());
        let sampling = match &availability.sampling {
            Ok(image) => Sampling::of_device(&cupti, agent.device(), &availability.chip, image),
            Err(_) => None,
        };
        Ok(Self {
            cupti,
            agent,
            availability,
            conduct,
            lock,
            plans: Mutex::default(),
            evaluator,
            state: Mutex::default(),
            ranges,
            sampling,
            instead: Mutex::default(),
            warn,
        })
    }

    /// Why nothing can be counted, with the remedy; `None` when counting works.
    pub(crate) fn refused(&self) -> Option<Arc<str>> {
        self.availability.refused.clone()
    }

    /// Ends the context's session; the context is about to go.
    pub(crate) fn close(&self) {
        self.flush_all();
        if let Some(sampling) = &self.sampling {
            sampling.release();
        }
        self.ranges.end_session();
    }

    fn flush_all(&self) {
        self.evaluator.flush();
        if let Some(sampling) = &self.sampling {
            sampling.flush();
        }
    }

    /// What a sampled pass stands on: waits end with `stuck` set when a dispatch does not end in time. The first pass may
    /// be the program's own, on any stream.
    fn ground<'s>(&'s self, pass: u32, stuck: &'s mut bool) -> Device<impl FnMut() -> Result<(), CountersError> + 's> {
        let wait = move || {
            const WHAT: &str = "waiting for a sampled dispatch";
            let deadline = Instant::now() + self.conduct.pass_deadline;
            let waited = match pass {
                0 => self.agent.wait_every_stream(deadline, WHAT),
                _ => self.agent.wait_pass(deadline, WHAT, true),
            };
            waited.map_err(|error| {
                *stuck = true;
                CountersError::Failed { call: WHAT, status: error.to_string() }
            })
        };
        Device { wait, cupti: Arc::clone(&self.cupti), agent: self.agent.clone() }
    }

    /// A pass that samples begins; the context is idle.
    fn begin_sampling(&self, window: &Window, pass: u32, stuck: &mut bool) -> Result<SampledPass, CountersError> {
        let sampling = self.sampling()?;
        let backwards = window.number % 2 == 1;
        let sampled = window
            .planned
            .sampled(pass, backwards)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        self.check_end(sampling)?;
        let what = (&sampled.group, &sampled.counters);
        sampling.begin(
            what,
            sampled.pass,
            (window.dispatches, window.number),
            &window.gather,
            &mut self.ground(pass, stuck),
        )
    }

    /// As [`CudaCounters::begin_sampling`], without fences.
    fn begin_unfenced(&self, window: &Window, pass: u32, events: &mut Events) -> Result<UnfencedPass, CountersError> {
        let sampling = self.sampling()?;
        self.check_end(sampling)?;
        let sampled = window
            .planned
            .sampled(pass, false)
            .ok_or_else(|| CountersError::Discarded(format!("pass {pass} is not in the plan")))?;
        let what = (&sampled.group, &sampled.counters);
        sampling.begin_unfenced(what, pass, window.dispatches, &window.gather, (&self.agent, &self.cupti, events))
    }

    /// While the process ends the hardware is not programmed for the first time: CUPTI crashes then.
    fn check_end(&self, sampling: &Sampling) -> Result<(), CountersError> {
        if ending() && !sampling.was_programmed() {
            return Err(CountersError::Unavailable("the program ended before anything was counted this way".into()));
        }
        Ok(())
    }

    fn sampling(&self) -> Result<&Sampling, CountersError> {
        self.sampling.as_deref().ok_or_else(|| CountersError::Unavailable("nothing can be sampled here".into()))
    }

    fn planner(&self) -> Planner<'_> {
        Planner {
            cupti: &self.cupti,
            chip: &self.availability.chip,
            availability: &self.availability.image,
            sampling: self.availability.sampling.as_deref().ok().filter(|_| self.sampling.is_some()),
        }
    }

    /// The plan, or once sampling was given up the one that uses ranges instead.
    fn usable(&self, planned: Arc<Planned>) -> Arc<Planned> {
        let Some(why) = self.sampling.as_ref().and_then(|sampling| sampling.given_up()) else { return planned };
        if planned.sampled.is_empty() {
            return planned;
        }
        let mut instead = self.instead.guarded();
        if let Some((_, known)) = instead.iter().find(|(of, _)| Arc::ptr_eq(of, &planned)) {
            return Arc::clone(known);
        }
        (self.warn)(
            "sampling_given_up",
            format!("nothing is sampled any more: {why}. What fits one pass of ranges is counted so."),
        );
        let made = Arc::new(planned.without_sampling(&self.planner()));
        instead.push((planned, Arc::clone(&made)));
        made
    }

    /// Whether this is the only process that counts on the GPU; if not, nothing is sampled any more.
    fn alone(&self) -> bool {
        let alone = alone::alone(self.agent.uuid());
        if !alone && let Some(sampling) = &self.sampling {
            sampling.give_up("another process counts on this GPU, and its work would be sampled too".into());
        }
        alone
    }

    /// Waits for what was submitted to a stream, so that the next step of the counters meets an idle context.
    fn wait(&self, stuck: &mut bool, what: &'static str, program: bool) -> Result<(), CountersError> {
        let deadline = Instant::now() + self.conduct.pass_deadline;
        self.agent.wait_pass(deadline, what, program).map_err(|error| {
            *stuck = true;
            CountersError::Failed { call: what, status: error.to_string() }
        })
    }

    /// Takes the GPU's lock for the window.
    fn hold(&self, window: &mut Window) -> Result<(), CountersError> {
        if !window.locked {
            self.lock
                .acquire(Instant::now() + self.conduct.lock_deadline)
                .map_err(|error| CountersError::Unavailable(error.to_string()))?
                .keep();
            window.locked = true;
        }
        Ok(())
    }

    fn planned(&self, plan: &Plan) -> Result<Arc<Planned>, CountersError> {
        let plans = self.plans.guarded();
        plans
            .iter()
            .find(|planned| planned.plan == *plan)
            .cloned()
            .ok_or_else(|| CountersError::Discarded("the plan is not one of this agent's".into()))
    }
}

impl Counters for CudaCounters {
    fn list(&self) -> Vec<CounterInfo> {
        list(&self.cupti, &self.availability.chip, &self.availability.image)
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        let planned = match &self.availability.refused {
            Some(_) => timing_plan(request),
            None if self.conduct.fence => plan(&self.planner(), request)?,
            None => plan_unfenced(&self.planner(), request)?,
        };
        let plan = planned.plan.clone();
        let mut plans = self.plans.guarded();
        if !plans.iter().any(|known| known.plan == plan) {
            plans.push(Arc::new(planned));
        }
        Ok(plan)
    }

    fn counts_program_queues(&self, pass: &PlannedPass) -> bool {
        // The fence waits for every stream of the context. Ranges of the program's own launches come in the order of their
        // submission; with replays behind it a first pass by ranges gains nothing from that.
        let alone = |planned: &Arc<Planned>| planned.plan.passes == std::slice::from_ref(pass);
        match pass.way {
            Way::Sampling => true,
            Way::Ranges => self.plans.guarded().iter().any(alone),
            Way::Timing => false,
        }
    }

    fn counts_every_launch(&self, plan: &Plan) -> bool {
        // Each launch of a pass is a range of its own.
        plan.passes.iter().any(|pass| pass.way == Way::Ranges)
    }

    fn most_dispatches(&self, plan: &Plan) -> u32 {
        most_dispatches(plan)
    }

    fn open(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError> {
        let mut planned = self.planned(plan)?;
        if self.conduct.flush_cache && dispatches > 1 {
            return Err(CountersError::Unavailable(
                "--cache flush empties the cache before a pass, not before each kernel of it; add --window kernel"
                    .into(),
            ));
        }
        let mut state = self.state.guarded();
        if state.stuck {
            return Err(CountersError::Unavailable(
                "a pass did not end; nothing more is counted in this context".into(),
            ));
        }
        if !planned.sampled.is_empty() {
            self.alone();
            planned = self.usable(planned);
        }
        let ranges = self.ranges.open(Arc::clone(&planned), dispatches)?;
        state.windows += 1;
        state.window = Some(Window {
            planned,
            dispatches,
            number: state.windows,
            gather: Gather::new(Arc::clone(&self.warn)),
            ranges,
            locked: false,
            current: None,
            readings: Vec::new(),
        });
        Ok(())
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        let mut state = self.state.guarded();
        let State { window, stuck, events, .. } = &mut *state;
        if self.conduct.flush_cache {
            self.agent
                .flush_cache()
                .map_err(|error| CountersError::Failed { call: "flushing the cache", status: error.to_string() })?;
        }
        if pass.way != Way::Timing || self.conduct.flush_cache {
            self.wait(stuck, "waiting for the device before a pass", false)?;
        }
        let window = window.as_mut().ok_or_else(no_window)?;
        let current = match pass.way {
            Way::Ranges | Way::Sampling if window.planned.place(pass.index).is_some() => {
                self.hold(window)?;
                if let Some(sampling) = &self.sampling {
                    // While sampling is enabled ranges answer that the hardware is busy.
                    sampling.release();
                }
                Current::Ranges(self.ranges.begin(&mut window.ranges, pass.index)?)
            }
            Way::Timing => Current::Timing(TimedPass::default()),
            Way::Sampling if window.planned.sampled.is_empty() => {
                return Err(CountersError::Unavailable(
                    "nothing is sampled any more, and these counters take several passes by ranges".into(),
                ));
            }
            Way::Ranges => return Err(CountersError::Discarded(format!("pass {} is not in the plan", pass.index))),
            Way::Sampling if !self.conduct.fence => {
                self.hold(window)?;
                Current::Unfenced(Box::new(self.begin_unfenced(window, pass.index, events)?))
            }
            Way::Sampling => {
                self.hold(window)?;
                Current::Sampling(Box::new(self.begin_sampling(window, pass.index, stuck)?))
            }
        };
        window.current = Some((pass.index, current));
        Ok(())
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        let mut state = self.state.guarded();
        let State { window, timing, events, stuck, .. } = &mut *state;
        let window = window.as_mut().ok_or_else(no_window)?;
        let (number, current) = window.current.as_mut().ok_or_else(no_window)?;
        match current {
            Current::Sampling(pass) => self.sampling()?.before(pass, index, &mut self.ground(*number, stuck)),
            Current::Ranges(pass) => {
                self.ranges.before(&mut window.ranges, pass, index);
                Ok(())
            }
            Current::Unfenced(pass) => pass.before(&self.agent, events, index),
            Current::Timing(pass) => timing.before(&self.agent, pass, index),
        }
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        let mut state = self.state.guarded();
        let State { window, timing, events, stuck, .. } = &mut *state;
        let current = window.as_mut().and_then(|window| window.current.as_mut());
        let (number, current) = current.ok_or_else(no_window)?;
        match current {
            Current::Ranges(_) => Ok(()),
            Current::Sampling(pass) => self.sampling()?.after(pass, &mut self.ground(*number, stuck)),
            Current::Unfenced(pass) => pass.after(&self.agent, events, index),
            Current::Timing(pass) => timing.after(&self.agent, pass, index),
        }
    }

    fn end(&self) -> Result<(), CountersError> {
        let mut state = self.state.guarded();
        let State { window, timing, events, stuck, .. } = &mut *state;
        let window = window.as_mut().ok_or_else(no_window)?;
        let (number, current) = window.current.take().ok_or_else(no_window)?;
        match current {
            Current::Ranges(pass) => {
                // What still runs when a pass is stopped is counted as far as it got.
                self.wait(stuck, "waiting for a counted pass", true)?;
                self.ranges.end(&mut window.ranges, &pass)
            }
            Current::Sampling(pass) => self.sampling()?.end(*pass, &mut self.ground(number, stuck)),
            Current::Unfenced(pass) => {
                self.wait(stuck, "waiting for a sampled pass", true)?;
                self.sampling()?.end_unfenced(*pass, &self.agent, events)
            }
            Current::Timing(pass) => {
                self.wait(stuck, "waiting for a timed dispatch", true)?;
                let longest = timing.end(&self.agent, &pass, number, &mut window.readings)?;
                if let Some(sampling) = &self.sampling {
                    sampling.expect(longest, window.dispatches);
                }
                Ok(())
            }
        }
    }

    fn collect(&self, deliver: Deliver) {
        let window = self.state.guarded().window.take();
        self.lock.release();
        let Some(window) = window else { return deliver(Err(no_window())) };
        let Window { ranges, gather, readings, .. } = window;
        if let Some(counted) = self.ranges.collect(ranges) {
            let part = gather.part(self.evaluator.owed());
            self.evaluator.submit(Job {
                images: counted.images,
                broken: counted.broken,
                order: counted.order,
                launches: counted.launches,
                part,
                give_back: counted.give_back,
            });
        }
        gather.part(self.evaluator.owed()).finish(Ok(readings));
        gather.close(deliver);
    }

    fn abandon(&self) {
        let mut state = self.state.guarded();
        let Some(window) = state.window.take() else { return };
        if !state.stuck {
            let running = matches!(window.current, Some((_, Current::Ranges(_))));
            self.ranges.abandon(&window.ranges, running);
            if let (Some((_, Current::Sampling(_) | Current::Unfenced(_))), Some(sampling)) =
                (&window.current, &self.sampling)
            {
                sampling.abandon();
            }
        }
        self.lock.release();
    }

    fn flush(&self) {
        self.flush_all();
    }
}

impl crate::interceptor::AgentCounters for CudaCounters {
    fn launched(&self) {
        let mut state = self.state.guarded();
        let State { window, timing, .. } = &mut *state;
        let current = window.as_mut().and_then(|window| window.current.as_mut());
        if let Some((_, Current::Timing(pass))) = current {
            timing.launched(&self.agent, pass);
        }
    }

    fn close(&self) {
        CudaCounters::close(self);
    }
}

/// Everything that a chip can count, sets first.
pub(crate) fn list(cupti: &Cupti, chip: &str, availability: &[u8]) -> Vec<CounterInfo> {
    let mut found: Vec<CounterInfo> = SETS
        .iter()
        .map(|set| CounterInfo {
            name: set.name.into(),
            block: "set".into(),
            unit: "".into(),
            description: format!("{} ({} metrics)", set.description, set.metrics.len()).into(),
        })
        .collect();
    let Ok(host) = Host::new(cupti, chip, availability) else { return found };
    let mut bases = host.base_metrics().unwrap_or_default();
    bases.sort();
    for base in bases {
        let Ok(properties) = host.properties(&base) else { continue };
        found.push(CounterInfo {
            name: base,
            block: properties.block,
            unit: properties.unit,
            description: properties.description,
        });
    }
    found
}
