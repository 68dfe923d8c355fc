//! The counters of one agent: the engine's trait over vendor packets.

use super::catalogue::{Catalogue, Counter, DERIVED};
use super::decode::{Decoder, Device};
use super::ffi::Event;
use super::library::Library;
use super::profile::Group;
use super::queue::PacketQueue;
use super::sampling::{Device as SampledDevice, SampleSource, SampledPass, Sampling, Sums};
use super::window::{Counted, Stored, Window};
use super::worker::Worker;
use kreplay_engine::{CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Request, Way};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The counters of an agent, counted with packets on its queue.
///
/// In a pass a *start* packet lets the counters run, a *read* packet before and one after each dispatch take their
/// values, and a *stop* packet ends it. A dispatch's value is the difference of its two readings, summed over all
/// instances: the agent's own work between dispatches is not in it.
pub struct AqlCounters<Q: PacketQueue> {
    queue: Arc<Q>,
    decoder: Arc<Decoder>,
    state: Mutex<State<Q>>,
    worker: Worker,
    sampling: Option<Sampling>,
    /// The pass of a plan that has only one: it can be counted in line.
    single: Mutex<Option<PlannedPass>>,
    warn: Warn,
    /// Whether it was told that sampling was given up.
    told: AtomicBool,
}

/// Tells the user something, once for each key.
pub type Warn = Box<dyn Fn(&'static str, String) + Send + Sync>;

struct State<Q: PacketQueue> {
    /// The groups of the plan that was used last; a window of the same plan uses them again.
    groups: Vec<Group<Q>>,
    window: Option<Window>,
}

impl<Q: PacketQueue> AqlCounters<Q> {
    /// The counters of the agent with ROCr's handle `agent`, whose HSA name is `name`.
    ///
    /// # Errors
    /// [`CountersError::Unavailable`] when the chip is not known, or the library offers none of its counters.
    pub fn new(
        queue: Arc<Q>,
        library: Library,
        agent: u64,
        name: &str,
        simulated: bool,
        device: Device,
    ) -> Result<Self, CountersError> {
        let mut catalogue = Catalogue::of(name, simulated).ok_or_else(|| {
            let known: Vec<&str> = Catalogue::chips().collect();
            CountersError::Unavailable(format!("the counters of {name} are not known; known are {}", known.join(", ")))
        })?;
        let why = Mutex::new(None);
        catalogue.probe(
            |block| {
                let found = library.block(agent, block.name).and_then(|(id, instances)| {
                    let slots = library.slots(agent, Event { block: id, instance: 0, event: 0 })?;
                    Ok(super::catalogue::Block { id, instances, slots, ..*block })
                });
                found.map_err(|error| *why.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).ok()
            },
            |counter, block| {
                let event = Event { block: block.id, instance: 0, event: counter.event };
                library.validate(agent, event).unwrap_or(false)
            },
        );
        if catalogue.counters().is_empty() {
            let why = why.into_inner().unwrap_or_else(PoisonError::into_inner);
            let why = why.map_or_else(String::new, |error| format!(": {error}"));
            return Err(CountersError::Unavailable(format!(
                "the AQL profile library offers no counter of {name}{why}"
            )));
        }
        catalogue.set_sampled(false);
        let decoder = Decoder { library, agent, catalogue, device };
        let state = State { groups: Vec::new(), window: None };
        Ok(Self {
            queue,
            decoder: Arc::new(decoder),
            state: Mutex::new(state),
            worker: Worker::default(),
            sampling: None,
            single: Mutex::default(),
            warn: Box::new(|_, _| ()),
            told: AtomicBool::new(false),
        })
    }

    /// Samples counters where that is cheaper than reading ranges. To be called before any planning.
    #[must_use]
    pub fn sampled(mut self, source: Box<dyn SampleSource>) -> Self {
        if let Some(decoder) = Arc::get_mut(&mut self.decoder) {
            decoder.catalogue.set_sampled(true);
            self.sampling = Some(Sampling::new(source));
        }
        self
    }

    /// Tells warnings to `warn`.
    #[must_use]
    pub fn warned(mut self, warn: Warn) -> Self {
        self.warn = warn;
        self
    }

    /// What samples this pass now; `None` where ranges count it.
    fn sampling(&self, pass: &PlannedPass) -> Option<&Sampling> {
        let sampling = self.sampling.as_ref().filter(|_| pass.way == Way::Sampling)?;
        let Some(why) = sampling.given_up() else { return Some(sampling) };
        if !self.told.swap(true, Ordering::Relaxed) {
            (self.warn)("sampling_given_up", format!("counters are read around each kernel from here on: {why}"));
        }
        None
    }

    fn ground<'a>(&'a self, sampling: &'a Sampling) -> SampledDevice<'a, Q> {
        SampledDevice::new(&*self.queue, sampling)
    }

    /// Block and event number of each counter.
    fn events(&self, counters: &[Counter]) -> Vec<(u32, u32)> {
        let block = |counter: &Counter| self.decoder.catalogue.block(counter.block).map_or(u32::MAX, |block| block.id);
        counters.iter().map(|counter| (block(counter), counter.event)).collect()
    }

    /// What this agent can count.
    pub fn catalogue(&self) -> &Catalogue {
        &self.decoder.catalogue
    }

    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counters of a pass that the hardware counts.
    fn hardware(&self, pass: &PlannedPass) -> Result<Vec<Counter>, CountersError> {
        let raw = pass.counters.iter().filter(|counter| &*counter.block != DERIVED);
        raw.map(|counter| {
            self.decoder
                .catalogue
                .counter(&counter.name)
                .copied()
                .ok_or_else(|| CountersError::Unavailable(format!("this agent has no counter named {}", counter.name)))
        })
        .collect()
    }

    /// The number of the group that counts `counters`, made when it is not there.
    fn group(&self, state: &mut State<Q>, counters: Vec<Counter>) -> Result<usize, CountersError> {
        if let Some(known) = state.groups.iter().position(|group| group.counters == counters) {
            return Ok(known);
        }
        let Decoder { library, agent, ref catalogue, .. } = *self.decoder;
        state.groups.push(Group::new(Arc::clone(&self.queue), library, agent, catalogue, counters)?);
        Ok(state.groups.len() - 1)
    }

    /// Waits for the device. Where it does not answer it may still write: then the buffers are never used again.
    fn settle(&self, state: &mut State<Q>) -> Result<(), CountersError> {
        self.queue.settle().inspect_err(|_| state.groups.drain(..).for_each(std::mem::forget))
    }

    /// Takes what the window stored out of the device's buffers.
    fn take(&self) -> Result<Taken, CountersError> {
        let mut state = self.lock();
        let window = state.window.take().ok_or_else(no_window)?;
        self.settle(&mut state)?;
        let mut passes = Vec::new();
        for counted in window.passes {
            let Some(group) = counted.group.and_then(|group| state.groups.get(group)) else { continue };
            let around = counted.around.iter().filter(|around| around.complete);
            let around = around.map(|a| (a.dispatch, group.stored(a.reading), group.stored(a.reading + 1))).collect();
            passes.push(Stored { pass: counted.pass, events: Arc::clone(&group.events), around });
        }
        Ok((window.plan, passes, window.sums))
    }
}

/// A window's plan, what its ranges stored, and what its sampled passes counted.
type Taken = (Plan, Vec<Stored>, Vec<(PlannedPass, Sums)>);

fn no_window() -> CountersError {
    CountersError::Failed { call: "counters", status: "no window is open".to_owned() }
}

pub(super) fn no_pass() -> CountersError {
    CountersError::Failed { call: "counters", status: "no pass has begun".to_owned() }
}

impl<Q: PacketQueue> Counters for AqlCounters<Q> {
    fn list(&self) -> Vec<CounterInfo> {
        self.decoder.catalogue.list()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        let plan = self.decoder.catalogue.plan(request)?;
        let single = if let [only] = plan.passes.as_slice() { Some(only.clone()) } else { None };
        *self.single.lock().unwrap_or_else(PoisonError::into_inner) = single;
        Ok(plan)
    }

    fn counts_program_queues(&self, pass: &PlannedPass) -> bool {
        // Of several passes all are replays: launches that are submitted together cannot be fenced as they run.
        let alone = self.single.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(pass);
        alone && self.sampling(pass).is_some()
    }

    fn open(&self, plan: &Plan, _dispatches: u32) -> Result<(), CountersError> {
        let mut state = self.lock();
        if state.window.is_some() {
            return Err(CountersError::Failed { call: "open", status: "a window is open already".to_owned() });
        }
        let ranged = plan.passes.iter().filter(|pass| self.sampling(pass).is_none());
        let needed: Vec<Vec<Counter>> = ranged.map(|pass| self.hardware(pass)).collect::<Result<_, _>>()?;
        // Another plan: the device has settled since the last window, so its buffers can go.
        state.groups.retain(|group| needed.contains(&group.counters));
        for counters in needed.into_iter().filter(|counters| !counters.is_empty()) {
            self.group(&mut state, counters)?;
        }
        state.window =
            Some(Window { plan: plan.clone(), passes: Vec::new(), running: false, sampled: None, sums: Vec::new() });
        Ok(())
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        let mut state = self.lock();
        let window = state.window.as_ref().ok_or_else(no_window)?;
        if window.running {
            return Err(CountersError::Failed { call: "begin", status: "a pass has not ended".to_owned() });
        }
        let counters = self.hardware(pass)?;
        if let Some(sampling) = self.sampling(pass).filter(|_| !counters.is_empty()) {
            let sampled = sampling.begin(pass.clone(), self.events(&counters), &mut self.ground(sampling))?;
            let window = state.window.as_mut().ok_or_else(no_window)?;
            (window.sampled, window.running) = (Some(sampled), true);
            return Ok(());
        }
        let group = match (pass.way, counters.is_empty()) {
            (Way::Timing, _) | (_, true) => None,
            // Sampling that was given up counts by ranges.
            (Way::Ranges | Way::Sampling, false) => Some(self.group(&mut state, counters)?),
        };
        if let Some(group) = group {
            let packet = state.groups[group].start()?;
            self.queue.submit_packets(&[packet])?;
        }
        state.window.as_mut().ok_or_else(no_window)?.begin(pass.clone(), group);
        Ok(())
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        if let Some(done) = self.fence(|sampling, pass, ground| sampling.before(pass, index, ground)) {
            return done;
        }
        self.reading(|counted| Ok(counted.before(index)))
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        if let Some(done) = self.fence(|sampling, pass, ground| sampling.after(pass, ground)) {
            return done;
        }
        self.reading(|counted| {
            counted.after(index).ok_or_else(|| CountersError::Failed {
                call: "after",
                status: format!("dispatch {index} was not announced before it was submitted"),
            })
        })
    }

    fn end(&self) -> Result<(), CountersError> {
        let mut state = self.lock();
        let window = state.window.as_mut().filter(|window| window.running).ok_or_else(no_pass)?;
        window.running = false;
        if let Some((sampling, pass)) = self.sampling.as_ref().zip(window.sampled.take()) {
            let planned = pass.pass.clone();
            window.sums.push((planned, sampling.end(pass)?));
            return Ok(());
        }
        let group = window.passes.last().and_then(|counted| counted.group);
        let Some(group) = group else { return Ok(()) };
        let packet = state.groups[group].stop()?;
        self.queue.submit_packets(&[packet])
    }

    fn collect(&self, deliver: Deliver) {
        if self.lock().window.as_ref().is_some_and(|window| window.running)
            && let Err(error) = self.end()
        {
            self.abandon();
            self.worker.submit(Box::new(move || deliver(Err(error).into())));
            return;
        }
        let taken = self.take();
        if let Some(sampling) = &self.sampling {
            sampling.window_ends();
        }
        let decoder = Arc::clone(&self.decoder);
        self.worker.submit(Box::new(move || {
            deliver(match taken {
                Ok((plan, passes, sampled)) => decoder.readings(&plan, passes, sampled),
                Err(error) => Err(error).into(),
            });
        }));
    }

    fn abandon(&self) {
        if let Some(sampling) = &self.sampling {
            let taken = self.lock().window.as_mut().and_then(|window| {
                window.running &= window.sampled.is_none();
                window.sampled.take()
            });
            if let Some(pass) = taken {
                sampling.abandon(pass);
            }
            sampling.window_ends();
        }
        let running = self.lock().window.as_ref().is_some_and(|window| window.running);
        if running {
            // The window has failed already; counters that run on harm nobody, and the next start resets them.
            let _ = self.end();
        }
        let mut state = self.lock();
        state.window = None;
        // Readings under way must not land in the next window's. What went wrong is said by whoever abandons.
        let _ = self.settle(&mut state);
    }

    fn flush(&self) {
        self.worker.flush();
    }
}

impl<Q: PacketQueue> AqlCounters<Q> {
    /// Does something with the pass that is being sampled; `None` where none is.
    fn fence(
        &self,
        act: impl FnOnce(&Sampling, &mut SampledPass, &mut SampledDevice<'_, Q>) -> Result<(), CountersError>,
    ) -> Option<Result<(), CountersError>> {
        let sampling = self.sampling.as_ref()?;
        let mut state = self.lock();
        let pass = state.window.as_mut()?.sampled.as_mut()?;
        Some(act(sampling, pass, &mut self.ground(sampling)))
    }

    /// Submits the reading whose number `choose` tells.
    fn reading(&self, choose: impl FnOnce(&mut Counted) -> Result<usize, CountersError>) -> Result<(), CountersError> {
        let mut state = self.lock();
        let window = state.window.as_mut().filter(|window| window.running).ok_or_else(no_pass)?;
        let counted = window.passes.last_mut().ok_or_else(no_pass)?;
        let group = counted.group;
        let reading = choose(counted)?;
        let Some(group) = group else { return Ok(()) };
        let submitted = state.groups[group].read(reading).and_then(|packet| self.queue.submit_packets(&[packet]));
        if submitted.is_err()
            && let Some(counted) = state.window.as_mut().and_then(|window| window.passes.last_mut())
        {
            counted.forget_last();
        }
        submitted
    }
}
