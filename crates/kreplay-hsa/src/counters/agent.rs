//! The counters of one agent: the engine's trait over vendor packets.

use super::catalogue::{Catalogue, Counter, DERIVED};
use super::decode::{Decoder, Device};
use super::ffi::Event;
use super::library::Library;
use super::profile::Group;
use super::queue::PacketQueue;
use super::window::{Counted, Stored, Window};
use super::worker::Worker;
use kreplay_engine::{
    CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Reading, Request, Way,
};
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
}

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
        let decoder = Arc::new(Decoder { library, agent, catalogue, device });
        let state = State { groups: Vec::new(), window: None };
        Ok(Self { queue, decoder, state: Mutex::new(state), worker: Worker::default() })
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
    fn take(&self) -> Result<(Plan, Vec<Stored>), CountersError> {
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
        Ok((window.plan, passes))
    }
}

fn no_window() -> CountersError {
    CountersError::Failed { call: "counters", status: "no window is open".to_owned() }
}

fn no_pass() -> CountersError {
    CountersError::Failed { call: "counters", status: "no pass has begun".to_owned() }
}

impl<Q: PacketQueue> Counters for AqlCounters<Q> {
    fn list(&self) -> Vec<CounterInfo> {
        self.decoder.catalogue.list()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        self.decoder.catalogue.plan(request)
    }

    fn open(&self, plan: &Plan, _dispatches: u32) -> Result<(), CountersError> {
        let mut state = self.lock();
        if state.window.is_some() {
            return Err(CountersError::Failed { call: "open", status: "a window is open already".to_owned() });
        }
        let needed: Vec<Vec<Counter>> = plan.passes.iter().map(|pass| self.hardware(pass)).collect::<Result<_, _>>()?;
        // Another plan: the device has settled since the last window, so its buffers can go.
        state.groups.retain(|group| needed.contains(&group.counters));
        for counters in needed.into_iter().filter(|counters| !counters.is_empty()) {
            self.group(&mut state, counters)?;
        }
        state.window = Some(Window { plan: plan.clone(), passes: Vec::new(), running: false });
        Ok(())
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        let mut state = self.lock();
        let window = state.window.as_ref().ok_or_else(no_window)?;
        if window.running {
            return Err(CountersError::Failed { call: "begin", status: "a pass has not ended".to_owned() });
        }
        let counters = self.hardware(pass)?;
        let group = match (pass.way, counters.is_empty()) {
            (Way::Timing, _) | (_, true) => None,
            (Way::Ranges, false) => Some(self.group(&mut state, counters)?),
            (Way::Sampling, false) => {
                return Err(CountersError::Unavailable("AMD's counters cannot be sampled this way".to_owned()));
            }
        };
        if let Some(group) = group {
            let packet = state.groups[group].start()?;
            self.queue.submit_packets(&[packet])?;
        }
        state.window.as_mut().ok_or_else(no_window)?.begin(pass.clone(), group);
        Ok(())
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        self.reading(|counted| Ok(counted.before(index)))
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
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
            self.worker.submit(Box::new(move || deliver(Err(error))));
            return;
        }
        let taken = self.take();
        let decoder = Arc::clone(&self.decoder);
        self.worker.submit(Box::new(move || {
            let readings: Result<Vec<Reading>, CountersError> =
                taken.and_then(|(plan, passes)| decoder.readings(&plan, passes));
            deliver(readings);
        }));
    }

    fn abandon(&self) {
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
