//! The engine's counters of an agent: the seam, which hands each pass to its way of counting.

use super::device::Availability;
use super::gather::Gather;
use super::planning::list::list;
use super::planning::plan::{Planned, plan, plan_unfenced, timing_plan};
use super::ranges::Ranges;
use super::ranges::evaluate::{Evaluator, Job};
use super::ranges::room::{most_dispatches, most_together, steady_dispatches};
use super::sampling::{Events, Sampling};
use super::sharing::alone;
use super::sharing::lock::GpuLock;
use super::sharing::watch::Watch;
use super::timing::Timing;
use super::ways::{Current, Window};
use super::{Guarded, no_window};
use crate::agent::{CONTEXTS, CudaAgent};
use crate::tables::Cupti;
use kreplay_engine::{CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Request, Way};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Takes warnings, each of a kind once.
pub(crate) type Warn = Arc<dyn Fn(&'static str, String) + Send + Sync>;

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
    pub(super) cupti: Arc<Cupti>,
    pub(super) agent: CudaAgent,
    pub(super) availability: Availability,
    pub(super) conduct: Conduct,
    pub(super) lock: GpuLock,
    plans: Mutex<Vec<Arc<Planned>>>,
    evaluator: Evaluator,
    pub(super) state: Mutex<State>,
    pub(super) ranges: Ranges,
    /// `None`: nothing can be sampled.
    pub(super) sampling: Option<Arc<Sampling>>,
    /// Plans whose sampled passes are counted by ranges, by the plan that they stand for.
    pub(super) instead: Mutex<Vec<(Arc<Planned>, Arc<Planned>)>>,
    pub(super) warn: Warn,
    pub(super) watch: Watch,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) window: Option<Window>,
    timing: Timing,
    events: Events,
    /// Windows so far.
    pub(super) windows: u64,
    /// A pass did not end: nothing may be asked of the hardware any more.
    pub(super) stuck: bool,
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
        alone::enter(agent.uuid()).map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let ranges = Ranges::new(Arc::clone(&cupti), agent.clone());
        let sampling = match &availability.sampling {
            Ok(image) => Sampling::of_device(&cupti, agent.device(), &availability.chip, image),
            Err(_) => None,
        };
        let uuid = agent.uuid();
        Ok(Self {
            watch: Watch::new(Box::new(move || alone::certainly(uuid).err())),
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
        self.watch.leave();
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

    pub(super) fn planned(&self, plan: &Plan) -> Result<Arc<Planned>, CountersError> {
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
        // With somebody else on the GPU everything is planned by ranges.
        let _ = self.company();
        self.tell_unsampled(request);
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
            // Launches of another context of the device would be counted too, and its own windows would have to wait.
            Way::Sampling => !self.agent.shares_device(),
            // The driver waits for every launch of such a pass, of collectives too.
            Way::Ranges => CONTEXTS.load(Ordering::Relaxed) <= 1 && self.plans.guarded().iter().any(alone),
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

    fn most_together(&self, plan: &Plan) -> u32 {
        most_together(plan)
    }

    fn steady_dispatches(&self, plan: &Plan) -> Option<u32> {
        steady_dispatches(plan)
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
            let _ = self.company();
            planned = self.usable(planned);
        }
        let ranges = Ranges::open(Arc::clone(&planned), dispatches);
        state.windows += 1;
        if dispatches > 1 {
            super::exit::window_opens(state.windows);
        }
        state.window = Some(Window {
            planned,
            dispatches,
            number: state.windows,
            gather: Gather::default(),
            ranges,
            locked: false,
            current: None,
            readings: Vec::new(),
            reach: None,
            beside: None,
            disturbed: false,
            replayed: false,
        });
        Ok(())
    }

    fn replays(&self, launches: u32) {
        if let Some(window) = &mut self.state.guarded().window {
            window.replayed = true;
            Ranges::expect(&mut window.ranges, launches);
        }
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
        let current = self.begin_pass(window, pass, stuck, events)?;
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
                self.sampling()?.end_unfenced(*pass, (&self.agent, &self.cupti), events)
            }
            Current::Timing(pass) => {
                self.wait(stuck, "waiting for a timed dispatch", true)?;
                let longest = timing.end(&self.agent, &pass, number, &mut window.readings)?;
                if let Some(sampling) = &self.sampling {
                    sampling.expect(longest);
                }
                Ok(())
            }
        }
    }

    fn collect(&self, deliver: Deliver) {
        let window = self.state.guarded().window.take();
        self.lock.release();
        let Some(window) = window else { return deliver(Err(no_window()).into()) };
        // What others did meanwhile was counted where the whole GPU is.
        if let Some((passes, who)) = self.disturbed(&window) {
            window
                .gather
                .discard(passes, CountersError::Discarded(format!("{who}, and whatever ran on it was counted")));
        }
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
        self.watch.leave();
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

    fn clock_mhz(&self) -> Option<u32> {
        alone::clock_mhz(self.agent.uuid())
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

    fn waits(&self) -> bool {
        self.conduct.fence
    }

    fn prepare(&self, plan: &Plan, dispatches: u32) {
        // The window that needs it tries again, and tells what becomes of it.
        let _ = self.prepare_first(plan, dispatches);
    }
}
