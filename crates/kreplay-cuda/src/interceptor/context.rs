//! A context of the program's: its engine, and what came before there was one.

use super::code::Functions;
use super::{AgentCounters, Interceptor, locked};
use crate::agent::{Bystander, CudaAgent, CudaWork};
use crate::tables::{Context, Stream};
use kreplay_engine::{
    AgentId, ClosingReason, Counters, Engine, Generation, ModuleVariable, Operation, Region, Retired,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long the end of a context or of the process may wait for a window.
const END: Duration = Duration::from_secs(10);

/// How long the first window may wait for calls that began before there was an engine.
const EARLY: Duration = Duration::from_secs(2);

/// What an engine needs beside itself.
pub(super) struct Driven {
    pub(super) engine: Arc<Engine<CudaAgent>>,
    pub(super) agent: CudaAgent,
    pub(super) counters: Option<Arc<dyn AgentCounters>>,
}

impl Driven {
    /// See [`kreplay_session::spare_the_loader`].
    pub(super) fn spare_the_loader(&self) {
        kreplay_session::spare_the_loader(&self.engine, super::loader_is_free);
    }
}

/// See the module.
pub(super) struct ContextState {
    pub(super) context: Context,
    /// `None` inside: no engine could be made, which was reported.
    driven: OnceLock<Option<Driven>>,
    making: Mutex<()>,
    /// Held while the context is got ready beside the program; `true`: it ends, and nothing is made any more.
    pub(super) over: Mutex<bool>,
    /// Regions and streams from before the first launch.
    early: Mutex<Option<Early>>,
    pub(super) functions: Functions,
    codes: AtomicU64,
    /// The number of its agent, whether it has come to be or not.
    id: OnceLock<AgentId>,
    /// A launch was described to the engine with the loader free: what windows wait for has started since.
    pub(super) waited: AtomicBool,
    /// Once something was launched without an engine, for those that count on the same device.
    pub(super) bystander: OnceLock<Arc<Bystander>>,
    /// There is an engine, or there can be none.
    made: AtomicBool,
    /// Calls of the program that began before and have not ended.
    early_calls: AtomicU64,
}

#[derive(Default)]
struct Early {
    regions: BTreeMap<u64, Region>,
    streams: BTreeSet<Stream>,
}

impl ContextState {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            driven: OnceLock::new(),
            making: Mutex::new(()),
            over: Mutex::new(false),
            early: Mutex::new(Some(Early::default())),
            functions: Functions::default(),
            codes: AtomicU64::new(1),
            id: OnceLock::new(),
            waited: AtomicBool::new(false),
            bystander: OnceLock::new(),
            made: AtomicBool::new(false),
            early_calls: AtomicU64::new(0),
        }
    }

    /// The engine, when there is one.
    pub(super) fn driven(&self) -> Option<&Driven> {
        self.driven.get().and_then(Option::as_ref)
    }

    /// The number of its agent.
    pub(super) fn agent_id(&self, interceptor: &Interceptor) -> AgentId {
        *self.id.get_or_init(|| AgentId(interceptor.agents.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// A call of the program begins while there is no engine that would keep it out of windows. `None` when there is one by now.
    pub(super) fn early_call(self: &Arc<Self>) -> Option<EarlyCall> {
        if self.made.load(Ordering::Relaxed) {
            return None;
        }
        // In one order with what `drive` does: either it sees this call, or this call sees the engine.
        self.early_calls.fetch_add(1, Ordering::SeqCst);
        let call = EarlyCall(Arc::clone(self));
        (!self.made.load(Ordering::SeqCst)).then_some(call)
    }

    /// Waits for calls that began when there was no engine: they may not fall into its first window.
    fn settle_early_calls(&self) {
        let deadline = Instant::now() + EARLY;
        while self.early_calls.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// The engine, made beside the program or at the first launch that is selected. `None` when it cannot be. Nothing is being
    /// captured, threads of ours may be waited for, and the context is the thread's.
    pub(super) fn drive(&self, interceptor: &Interceptor) -> Option<&Driven> {
        if self.driven.get().is_none() {
            let _making = locked(&self.making);
            if self.driven.get().is_none() {
                let made = self.make(interceptor);
                let mut early = locked(&self.early);
                if let (Some(driven), Some(early)) = (&made, early.take()) {
                    for region in early.regions.into_values() {
                        driven.engine.region_born(region);
                    }
                    for stream in early.streams {
                        driven.agent.stream_born(stream);
                    }
                }
                // Set under the lock of `early`, so that nothing is reported to neither.
                let _ = self.driven.set(made);
                drop(early);
                self.made.store(true, Ordering::SeqCst);
                self.settle_early_calls();
                if self.driven().is_some() {
                    self.seen_from_now_on();
                }
                if self.driven().is_some() {
                    self.functions.look_at_all(self, &interceptor.driver);
                }
            }
        }
        self.driven()
    }

    fn make(&self, interceptor: &Interceptor) -> Option<Driven> {
        let _depth = crate::agent::Depth::enter();
        let id = self.agent_id(interceptor);
        let driver = Arc::clone(&interceptor.driver);
        let chip = driver.current_device().map_or_else(|_| "unknown".into(), |device| (interceptor.chip)(device));
        let agent = match CudaAgent::new(driver, self.context, id, &chip) {
            Ok(agent) => agent,
            Err(error) => {
                (interceptor.warn)("no_agent", format!("a context of the program cannot be profiled: {error}"));
                return None;
            }
        };
        agent.set_records(interceptor.records);
        agent.set_pools(Arc::clone(&interceptor.pools));
        let counters = (interceptor.make_counters)(&agent);
        let seam = counters.clone().map(|counters| counters as Arc<dyn Counters>);
        match Engine::new(Arc::new(agent.clone()), seam, Arc::clone(&interceptor.process)) {
            Ok(engine) => {
                interceptor.end_beside(Some(agent.device()), agent.context());
                Some(Driven { engine, agent, counters })
            }
            Err(error) => {
                (interceptor.warn)("no_plan", error.to_string());
                None
            }
        }
    }

    /// Memory is live.
    pub(super) fn region_born(&self, region: Region) {
        self.tell_region(region, Engine::region_born);
    }

    /// What is known of live memory has changed.
    pub(super) fn region_changed(&self, region: Region) {
        self.tell_region(region, Engine::region_changed);
    }

    /// Tells the engine of a region, or keeps it until there is one.
    fn tell_region(&self, region: Region, tell: impl FnOnce(&Engine<CudaAgent>, Region) -> Generation) {
        {
            let mut early = locked(&self.early);
            if let Some(early) = early.as_mut() {
                early.regions.insert(region.range.base, region);
                return;
            }
        }
        if let Some(driven) = self.driven() {
            tell(&driven.engine, region);
        }
    }

    /// As [`ContextState::region_retire`], of memory of another context that cannot be reached from this one.
    pub(super) fn region_retire_unreached(&self, base: u64) -> Option<Gone> {
        if locked(&self.early).is_some() {
            return self.region_retire(base);
        }
        self.driven().and_then(|driven| driven.engine.region_retire_unreached(base)).map(Gone::Known)
    }

    /// Memory is about to be freed.
    pub(super) fn region_retire(&self, base: u64) -> Option<Gone> {
        {
            let mut early = locked(&self.early);
            if let Some(early) = early.as_mut() {
                return early.regions.remove(&base).map(Gone::Early);
            }
        }
        let driven = self.driven()?;
        // What no window uses ends none.
        if driven.engine.is_used(base) {
            driven.spare_the_loader();
        }
        driven.engine.region_retire(base).map(Gone::Known)
    }

    /// The free failed.
    pub(super) fn region_reinstate(&self, gone: Gone) {
        match gone {
            Gone::Early(region) => self.region_born(region),
            Gone::Known(retired) => {
                if let Some(driven) = self.driven() {
                    driven.engine.region_reinstate(retired);
                }
            }
        }
    }

    /// A stream was made.
    pub(super) fn stream_born(&self, stream: Stream) {
        {
            let mut early = locked(&self.early);
            if let Some(early) = early.as_mut() {
                early.streams.insert(stream);
                return;
            }
        }
        if let Some(driven) = self.driven() {
            driven.agent.stream_born(stream);
        }
    }

    /// A stream is about to go.
    pub(super) fn stream_retired(&self, stream: Stream) {
        if let Some(early) = locked(&self.early).as_mut() {
            early.streams.remove(&stream);
        }
        if let Some(driven) = self.driven() {
            driven.agent.stream_retired(stream);
        }
    }

    /// Variables of a module are known; gives the number that stands for them.
    pub(super) fn code_loaded(&self, variables: Vec<ModuleVariable>) -> Option<u64> {
        let driven = self.driven()?;
        let code = self.codes.fetch_add(1, Ordering::Relaxed);
        let captured = variables.iter().filter(|variable| !variable.constant && !variable.managed);
        let changing: Vec<_> = captured.map(|variable| variable.range).collect();
        driven.engine.code_loaded(code, variables);
        // A batch window that is open has no snapshot of them. Nothing has used them in it yet, so it records, as if the
        // program did it now, that they become what they are.
        for range in changing {
            let mut work = || {
                let content = driven.agent.read(range, Instant::now() + END).ok()?;
                Some(CudaWork::Upload { to: range.base, content })
            };
            drop(driven.engine.memory_operation(Operation::Repeatable { bytes: range.bytes, record: &mut work }));
        }
        Some(code)
    }

    /// A module is about to go, with the variables of these codes; `launched` if a window may have recorded a kernel of it.
    pub(super) fn code_unloaded(&self, codes: &[u64], launched: bool) {
        if let Some(driven) = self.driven() {
            let ends = launched || !codes.is_empty();
            if ends {
                driven.spare_the_loader();
            }
            if launched {
                driven.engine.end_recording(ClosingReason::Unloaded);
            }
            for code in codes {
                driven.engine.code_unloaded(*code);
            }
        }
    }

    /// Nothing is looked at from now on.
    pub(super) fn part(&self) {
        if let Some(driven) = self.driven() {
            driven.engine.give_up_recording("the command had gone");
            driven.engine.finish(Instant::now() + END);
        }
    }

    /// The context or the process ends.
    pub(super) fn finish(&self) {
        *locked(&self.over) = true;
        self.seen_from_now_on();
        if let Some(driven) = self.driven() {
            let _depth = crate::agent::Depth::enter();
            driven.engine.finish(Instant::now() + END);
            if let Some(counters) = &driven.counters {
                counters.close();
            }
            driven.agent.close();
        }
    }
}

/// A region that was retired.
pub(super) enum Gone {
    /// From before there was an engine.
    Early(Region),
    /// By the engine.
    Known(Retired),
}

/// A call of the program that began before there was an engine; it has ended when this is dropped.
pub(super) struct EarlyCall(Arc<ContextState>);

impl Drop for EarlyCall {
    fn drop(&mut self) {
        self.0.early_calls.fetch_sub(1, Ordering::SeqCst);
    }
}
