//! The engine's counters of an agent.

use super::device::Availability;
use super::evaluate::{Evaluator, Image, Job, failed};
use super::host::Host;
use super::lock::GpuLock;
use super::plan::{EVENT_TIME, Planned, plan, timing_plan};
use super::range::RangeProfiler;
use super::sets::SETS;
use crate::agent::CudaAgent;
use crate::tables::{Context, Cupti, Event};
use kreplay_engine::{
    CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Reading, Request, Value, Way,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is done around passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conduct {
    /// Whether the second-level cache is filled with other data before each dispatch.
    pub(crate) flush_cache: bool,
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
    /// Storage of images, by group and ranges: an empty one to copy from, and used ones.
    images: Arc<Mutex<Images>>,
}

#[derive(Default)]
struct State {
    window: Option<Window>,
    events: Vec<(Event, Event)>,
    /// A pass did not end: nothing may be asked of the hardware any more.
    stuck: bool,
}

struct Window {
    planned: Arc<Planned>,
    /// Most dispatches that it may hold.
    dispatches: u32,
    /// Which launch of a pass each dispatch is: others, that are not counted, may lie between.
    order: Vec<u32>,
    /// Launches of a pass, where one has ended.
    launches: Option<u32>,
    /// The GPU's lock is held: from the first counted pass on.
    locked: bool,
    images: Vec<Option<Vec<u8>>>,
    complete: Vec<bool>,
    current: Option<Current>,
    /// Next pass of the instance that is being run.
    next: Option<(usize, u32)>,
    readings: Vec<Reading>,
    broken: Option<CountersError>,
}

struct Current {
    pass: u32,
    way: Way,
    instance: usize,
    pushed: bool,
    /// The end of a timed dispatch was marked when it was launched.
    marked: bool,
    ran: u32,
    /// Launches of the agent when it began.
    launches: u64,
}

type Images = HashMap<(usize, u32), (Vec<u8>, Vec<Vec<u8>>)>;

/// A session, and the group that it was programmed with: it keeps its first programming.
struct Session {
    device: i32,
    context: Context,
    group: Option<usize>,
    profiler: RangeProfiler,
}

/// The sessions of the process: one at a time on each device.
static SESSIONS: Mutex<Vec<Session>> = Mutex::new(Vec::new());

/// The process ends: no session is begun and no hardware programmed for the first time any more, since CUPTI crashes then.
static ENDING: AtomicBool = AtomicBool::new(false);

/// See [`ENDING`].
pub(crate) fn process_ends() {
    ENDING.store(true, Ordering::SeqCst);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    ) -> Result<Self, CountersError> {
        let lock = GpuLock::new(agent.uuid()).map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let evaluator =
            Evaluator::new(Arc::clone(&cupti), Arc::clone(&availability.chip), Arc::clone(&availability.image));
        Ok(Self {
            cupti,
            agent,
            availability,
            conduct,
            lock,
            plans: Mutex::default(),
            evaluator,
            state: Mutex::default(),
            images: Arc::default(),
        })
    }

    /// Why nothing can be counted, with the remedy; `None` when counting works.
    pub(crate) fn refused(&self) -> Option<Arc<str>> {
        self.availability.refused.clone()
    }

    /// Ends the context's session; the context is about to go.
    pub(crate) fn close(&self) {
        self.evaluator.flush();
        self.end_session();
    }

    fn end_session(&self) {
        let Ok(_entered) = self.agent.enter() else { return };
        locked(&SESSIONS).retain(|session| session.context != self.agent.context());
    }

    /// Runs `work` with this context's session, beginning it where there is none.
    fn with_session<T>(
        &self,
        work: impl FnOnce(&RangeProfiler) -> Result<T, CountersError>,
    ) -> Result<T, CountersError> {
        let (device, context) = (self.agent.device(), self.agent.context());
        let _entered = self.agent.enter().map_err(|error| CountersError::Unavailable(error.to_string()))?;
        let mut sessions = locked(&SESSIONS);
        if let Some(session) = sessions.iter().find(|session| session.context == context) {
            return work(&session.profiler);
        }
        sessions.retain(|session| session.device != device);
        let profiler = RangeProfiler::enable(Arc::clone(&self.cupti), context).map_err(failed)?;
        sessions.push(Session { device, context, group: None, profiler });
        work(&sessions[sessions.len() - 1].profiler)
    }

    /// Makes sure that the session was programmed with this group or not at all.
    fn session_for(&self, group: &Arc<super::planner::Group>) {
        let key = Arc::as_ptr(group) as usize;
        let context = self.agent.context();
        let other = locked(&SESSIONS)
            .iter_mut()
            .find(|session| session.context == context)
            .is_some_and(|session| *session.group.get_or_insert(key) != key);
        if other {
            self.end_session();
        }
    }

    /// Whether the session is this context's and was programmed with this group.
    fn is_programmed(&self, group: &Arc<super::planner::Group>) -> bool {
        let (context, key) = (self.agent.context(), Arc::as_ptr(group) as usize);
        locked(&SESSIONS).iter().any(|session| session.context == context && session.group == Some(key))
    }

    /// Notes what the session was programmed with.
    fn programmed(&self, group: &Arc<super::planner::Group>) {
        let context = self.agent.context();
        if let Some(session) = locked(&SESSIONS).iter_mut().find(|session| session.context == context) {
            session.group = Some(Arc::as_ptr(group) as usize);
        }
    }

    fn image(&self, planned: &Planned, instance: usize, ranges: u32) -> Result<Vec<u8>, CountersError> {
        let group = &planned.instances[instance].group;
        let key = (Arc::as_ptr(group) as usize, ranges);
        let mut images = locked(&self.images);
        let (empty, used) = match images.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let empty = self.with_session(|session| session.image(group, ranges).map_err(failed))?;
                place.insert((empty, Vec::new()))
            }
        };
        Ok(match used.pop() {
            Some(mut image) => {
                image.copy_from_slice(empty);
                image
            }
            None => empty.clone(),
        })
    }

    /// Waits for what was submitted to a stream, so that the next step of the counters meets an idle context.
    fn wait(&self, state: &mut State, what: &'static str, program: bool) -> Result<(), CountersError> {
        let deadline = Instant::now() + self.conduct.pass_deadline;
        self.agent.wait_pass(deadline, what, program).map_err(|error| {
            state.stuck = true;
            CountersError::Failed { call: what, status: error.to_string() }
        })
    }

    fn planned(&self, plan: &Plan) -> Result<Arc<Planned>, CountersError> {
        let plans = locked(&self.plans);
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
            None => plan(&self.cupti, &self.availability.chip, &self.availability.image, request)?,
        };
        let plan = planned.plan.clone();
        let mut plans = locked(&self.plans);
        if !plans.iter().any(|known| known.plan == plan) {
            plans.push(Arc::new(planned));
        }
        Ok(plan)
    }

    fn open(&self, plan: &Plan, dispatches: u32) -> Result<(), CountersError> {
        let planned = self.planned(plan)?;
        if self.conduct.flush_cache && dispatches > 1 {
            return Err(CountersError::Unavailable(
                "--cache flush empties the cache before a pass, not before each kernel of it; add --window kernel"
                    .into(),
            ));
        }
        let mut state = locked(&self.state);
        if state.stuck {
            return Err(CountersError::Unavailable(
                "a pass did not end; nothing more is counted in this context".into(),
            ));
        }
        let mut images = Vec::new();
        for instance in 0..planned.instances.len() {
            images.push(Some(self.image(&planned, instance, dispatches)?));
        }
        let complete = vec![false; planned.instances.len()];
        state.window = Some(Window {
            planned,
            dispatches,
            order: Vec::new(),
            launches: None,
            locked: false,
            images,
            complete,
            current: None,
            next: None,
            readings: Vec::new(),
            broken: None,
        });
        Ok(())
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        let mut state = locked(&self.state);
        if self.conduct.flush_cache {
            self.agent
                .flush_cache()
                .map_err(|error| CountersError::Failed { call: "flushing the cache", status: error.to_string() })?;
        }
        if pass.way == Way::Ranges || self.conduct.flush_cache {
            self.wait(&mut state, "waiting for the device before a pass", false)?;
        }
        let window = state.window.as_mut().ok_or_else(no_window)?;
        let mut current =
            Current { pass: pass.index, way: pass.way, instance: 0, pushed: false, marked: false, ran: 0, launches: 0 };
        if pass.way == Way::Ranges {
            let (instance, within) = window
                .planned
                .place(pass.index)
                .ok_or_else(|| CountersError::Discarded(format!("pass {} is not in the plan", pass.index)))?;
            if within > 0 && window.next != Some((instance, within)) {
                return Err(CountersError::Discarded("a pass of the same counters was left out before".into()));
            }
            current.instance = instance;
            let (planned, ranges) = (Arc::clone(&window.planned), window.dispatches);
            let image = window.images[instance]
                .as_mut()
                .ok_or_else(|| CountersError::Discarded("the counters' image is gone".into()))?;
            if !window.locked {
                self.lock
                    .acquire(Instant::now() + self.conduct.lock_deadline)
                    .map_err(|error| CountersError::Unavailable(error.to_string()))?
                    .keep();
                window.locked = true;
            }
            let group = &planned.instances[instance].group;
            if ENDING.load(Ordering::SeqCst) && !self.is_programmed(group) {
                return Err(CountersError::Unavailable(
                    "the program ended before anything was counted this way".into(),
                ));
            }
            if within == 0 {
                self.session_for(group);
            }
            self.with_session(|session| {
                if within == 0 {
                    session.configure(group, image, ranges).map_err(failed)?;
                }
                session.start().map_err(failed)
            })?;
            self.programmed(group);
            window.next = Some((instance, within + 1));
            current.launches = self.agent.launches();
        }
        window.current = Some(current);
        Ok(())
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        let mut state = locked(&self.state);
        let state = &mut *state;
        let window = state.window.as_mut().ok_or_else(no_window)?;
        let current = window.current.as_mut().ok_or_else(no_window)?;
        match current.way {
            Way::Ranges => {
                let place = (self.agent.launches() - current.launches) as u32;
                match window.order.get(index as usize) {
                    None if window.order.len() == index as usize => window.order.push(place),
                    Some(known) if *known == place => {}
                    _ => {
                        window.broken = Some(CountersError::Discarded("its passes launched in another order".into()));
                    }
                }
            }
            Way::Timing => {
                while state.events.len() <= index as usize {
                    let pair = self.agent.timing_events().map_err(timing)?;
                    state.events.push(pair);
                }
                self.agent.mark_pass(state.events[index as usize].0, false).map_err(timing)?;
            }
            Way::Sampling => return Err(CountersError::Unavailable("this agent does not sample".into())),
        }
        current.pushed = true;
        Ok(())
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        let mut state = locked(&self.state);
        let state = &mut *state;
        let current = state.window.as_mut().and_then(|window| window.current.as_mut()).ok_or_else(no_window)?;
        if current.way == Way::Timing && !std::mem::take(&mut current.marked) {
            let events = *state.events.get(index as usize).ok_or_else(no_window)?;
            self.agent.mark_pass(events.1, true).map_err(timing)?;
        }
        current.pushed = false;
        current.ran = current.ran.max(index + 1);
        Ok(())
    }

    fn end(&self) -> Result<(), CountersError> {
        let mut state = locked(&self.state);
        let current = state.window.as_mut().and_then(|window| window.current.take()).ok_or_else(no_window)?;
        match current.way {
            Way::Ranges => {
                // What still runs when a pass is stopped is counted as far as it got.
                self.wait(&mut state, "waiting for a counted pass", true)?;
                let launches = (self.agent.launches() - current.launches) as u32;
                let stopped = self.with_session(|session| session.stop().map_err(failed))?;
                let window = state.window.as_mut().ok_or_else(no_window)?;
                let passes = window.planned.instances[current.instance].group.config.passes;
                let last = window.next == Some((current.instance, passes));
                if *window.launches.get_or_insert(launches) != launches {
                    window.broken =
                        Some(CountersError::Discarded("its passes launched other numbers of kernels".into()));
                }
                if stopped.complete != last {
                    return Err(CountersError::Discarded(format!(
                        "CUPTI needs another number of passes than the {passes} it told"
                    )));
                }
                if last {
                    let dropped = self.with_session(|session| session.decode().map_err(failed))?;
                    if dropped > 0 {
                        return Err(CountersError::Discarded(format!("{dropped} dispatches did not fit the image")));
                    }
                    window.complete[current.instance] = true;
                }
            }
            Way::Timing => {
                self.wait(&mut state, "waiting for a timed dispatch", true)?;
                for dispatch in 0..current.ran {
                    let (start, end) = state.events[dispatch as usize];
                    let milliseconds = self.agent.elapsed(start, end).map_err(timing)?;
                    let window = state.window.as_mut().ok_or_else(no_window)?;
                    window.readings.push(Reading {
                        dispatch,
                        pass: current.pass,
                        counter: EVENT_TIME.into(),
                        unit: "ns".into(),
                        value: Value::Real(f64::from(milliseconds) * 1e6),
                        derived: false,
                    });
                }
            }
            Way::Sampling => return Err(CountersError::Unavailable("this agent does not sample".into())),
        }
        Ok(())
    }

    fn collect(&self, deliver: Deliver) {
        let window = locked(&self.state).window.take();
        self.lock.release();
        let Some(window) = window else { return deliver(Err(no_window())) };
        if window.complete.iter().any(|complete| !complete) {
            self.end_session();
        }
        let mut images = Vec::new();
        for (at, bytes) in window.images.into_iter().enumerate() {
            let instance = &window.planned.instances[at];
            let Some(bytes) = bytes.filter(|_| window.complete[at]) else { continue };
            images.push(Image {
                group: Arc::clone(&instance.group),
                counters: Arc::clone(&instance.counters),
                pass: instance.first + instance.group.config.passes - 1,
                bytes,
            });
        }
        let (store, ranges) = (Arc::clone(&self.images), window.dispatches);
        self.evaluator.submit(Job {
            images,
            before: window.broken.map_or(Ok(window.readings), Err),
            order: window.order,
            launches: window.launches.unwrap_or(0),
            deliver,
            give_back: Box::new(move |images| give_back(&store, ranges, images)),
        });
    }

    fn abandon(&self) {
        let mut state = locked(&self.state);
        let Some(window) = state.window.take() else { return };
        if let Some(current) = window.current
            && current.way == Way::Ranges
            && !state.stuck
        {
            // The pass may have begun or not: what was not begun cannot be stopped.
            let _ = self.with_session(|session| session.stop().map_err(failed));
        }
        if !state.stuck && (window.complete.iter().any(|complete| !complete)) {
            // CUPTI goes on counting passes of a configuration that was not finished; a new session begins at pass 0.
            self.end_session();
        }
        self.lock.release();
    }

    fn flush(&self) {
        self.evaluator.flush();
    }
}

impl crate::interceptor::AgentCounters for CudaCounters {
    fn launched(&self) {
        let mut state = locked(&self.state);
        let Some(current) = state.window.as_mut().and_then(|window| window.current.as_mut()) else { return };
        if current.way != Way::Timing || !current.pushed {
            return;
        }
        current.marked = true;
        // The event that is missing shows when its time is read.
        if let Some((_, end)) = state.events.first() {
            let _ = self.agent.mark_pass(*end, true);
        }
    }

    fn close(&self) {
        CudaCounters::close(self);
    }
}

fn give_back(store: &Mutex<Images>, ranges: u32, images: Vec<Image>) {
    let mut store = locked(store);
    for image in images {
        if let Some((_, used)) = store.get_mut(&(Arc::as_ptr(&image.group) as usize, ranges)) {
            used.push(image.bytes);
        }
    }
}

fn no_window() -> CountersError {
    CountersError::Discarded("no window or pass is open".into())
}

fn timing(error: kreplay_engine::AgentError) -> CountersError {
    CountersError::Failed { call: "timing by events", status: error.to_string() }
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
