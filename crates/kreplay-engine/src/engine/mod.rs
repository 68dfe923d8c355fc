//! The engine of one agent: what the program does comes in here.

mod admit;
mod batch;
mod decision;
mod end;
mod graph;
mod group;
mod in_line;
mod launch;
mod length;
mod open_batch;
mod operation;
mod outbox;
mod place;
mod reach;
mod refusal;
mod regions;
mod trust;

pub use decision::{Decision, RunGuard};
pub use graph::GraphNode;
pub use group::Member;
pub use operation::Operation;
pub(crate) use outbox::{Event, Readings};
pub(crate) use reach::Looked;
pub(crate) use refusal::Refusal;
pub(crate) use trust::Belief;

use crate::gate::Gate;
use crate::inventory::Inventory;
use crate::lock::lock;
use crate::shadow::{Shadow, StaleLog};
use crate::window::{Batch, Length};
use crate::{
    Agent, AgentDescription, AgentRecord, ClosingReason, Counters, Plan, PlanError, PlannedPass, Process, Way,
};
use open_batch::OpenBatchCell;
use outbox::Outbox;
use reach::ReachTable;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trust::Trust;

/// The engine of one agent. Every method may be called from any thread at any time.
pub struct Engine<A: Agent> {
    pub(crate) agent: Arc<A>,
    pub(crate) description: AgentDescription,
    pub(crate) counters: Option<Arc<dyn Counters>>,
    pub(crate) process: Arc<Process>,
    pub(crate) plan: Plan,
    pub(crate) gate: Arc<Gate>,
    pub(crate) inventory: Mutex<Inventory>,
    /// Counts changes of the inventory, so that a window sees that something died without looking.
    pub(crate) inventory_changes: AtomicU64,
    pub(crate) shadow: Mutex<Shadow<A>>,
    pub(crate) stale: StaleLog,
    pub(crate) trust: Mutex<Trust>,
    pub(crate) reach: Mutex<ReachTable>,
    /// Kernels that must not be replayed again: a pass of theirs did not end in time.
    pub(crate) refused: Mutex<BTreeSet<u64>>,
    /// Kernels of which one is to be refused, once it is known which.
    pub(crate) suspects: Mutex<BTreeSet<u64>>,
    /// The agent is gone.
    pub(crate) lost: AtomicBool,
    /// Work of a window that was given up may still be running.
    pub(crate) unsettled: AtomicBool,
    pub(crate) batch: Mutex<Option<Batch<A>>>,
    /// How long the next batch window is.
    pub(crate) length: Mutex<Length>,
    open_batch: OpenBatchCell,
    /// Held alone by the launch that is being recorded and submitted.
    turn: Arc<Gate>,
    finished: AtomicBool,
    outbox: Outbox,
}

impl<A: Agent> Engine<A> {
    /// An engine for `agent`. Without `counters` the passes run uncounted: with nothing asked for,
    /// [`crate::Settings::uncounted_passes`] of them, else one, for its times.
    ///
    /// # Errors
    /// What [`Counters::plan`] says of the request.
    pub fn new(
        agent: Arc<A>,
        counters: Option<Arc<dyn Counters>>,
        process: Arc<Process>,
    ) -> Result<Arc<Self>, PlanError> {
        let description = agent.describe();
        let mut request = process.settings.request.clone();
        if request.dispatches == 0 {
            request.dispatches = length::expected_dispatches(&*agent, &process.settings);
        }
        let wanted = !request.names.is_empty();
        let counters = counters.filter(|_| wanted);
        let plan = match &counters {
            Some(counters) => counters.plan(&request)?,
            None => uncounted(if wanted { 1 } else { process.settings.uncounted_passes.max(1) }),
        };
        process.staging.open(description.id, Arc::clone(&agent) as Arc<dyn crate::staging::Storage>);
        let length = Mutex::new(Length::of(&plan));
        let engine = Arc::new(Self {
            shadow: Mutex::new(Shadow::new(Arc::clone(&agent))),
            agent,
            description,
            counters,
            process,
            plan,
            gate: Arc::default(),
            inventory: Mutex::default(),
            inventory_changes: AtomicU64::new(0),
            stale: StaleLog::default(),
            trust: Mutex::default(),
            reach: Mutex::default(),
            refused: Mutex::default(),
            suspects: Mutex::default(),
            lost: AtomicBool::new(false),
            unsettled: AtomicBool::new(false),
            batch: Mutex::default(),
            length,
            open_batch: OpenBatchCell::default(),
            turn: Arc::default(),
            finished: AtomicBool::new(false),
            outbox: Outbox::default(),
        });
        engine.process.recorder.agent(AgentRecord {
            description: engine.description.clone(),
            memory: engine.agent.memory().ok(),
            plan: engine.plan.clone(),
        });
        if wanted && engine.counters.is_none() && engine.process.first_warning("uncounted") {
            let name = &engine.description.name;
            engine
                .process
                .recorder
                .warn("uncounted", format!("nothing can be counted on {name}; only times are taken"));
        }
        Ok(engine)
    }

    /// The agent.
    pub fn agent(&self) -> &Arc<A> {
        &self.agent
    }

    /// How the request is counted on this agent.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Host staging in bytes that this agent's pool holds and no snapshot uses.
    pub fn retained_bytes(&self) -> u64 {
        self.process.staging.retained_bytes(self.description.id)
    }

    /// Bytes that the shadow holds in all tiers.
    pub fn shadow_bytes(&self) -> u64 {
        lock(&self.shadow).held()
    }

    /// Frees the shadow and what staging retains, so that an allocation of the program that did not fit can be tried
    /// again. Waits while a window of another thread is open; within one of this thread it frees nothing. The next
    /// window takes its snapshot anew, in host memory if need be.
    ///
    /// Returns the bytes of device memory that came free.
    pub fn release_idle(&self) -> u64 {
        if self.gate.owned() {
            return 0;
        }
        self.close_recording(ClosingReason::Memory);
        let _hold = self.gate.share();
        let freed = lock(&self.shadow).release_all();
        self.process.staging.trim(self.description.id);
        freed
    }

    /// The program ends: waits for open windows until `deadline`, but at least as long as for a drain, hands over the readings
    /// that are still owed, and frees shadow and staging. The launches of a batch window that cannot be had by then decline, and
    /// what the program freed within it is not freed. Launches that come later run as they are and are not recorded. Calling
    /// it again does nothing.
    pub fn finish(&self, deadline: Instant) {
        if self.finished.swap(true, Ordering::SeqCst) {
            return;
        }
        self.close_last(deadline.max(Instant::now() + self.process.settings.drain_deadline));
        let alone = self.gate.close(deadline);
        if alone.is_some() && !self.unsettled.load(Ordering::SeqCst) {
            lock(&self.shadow).release_all();
        }
        drop(alone);
        self.process.staging.close(self.description.id);
        self.tell(Vec::new());
        if let Some(counters) = &self.counters {
            counters.flush();
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }
}

/// A plan of passes that count nothing.
fn uncounted(passes: u32) -> Plan {
    let pass = |index| PlannedPass { index, counters: Vec::new(), way: Way::Timing, price: Duration::ZERO };
    Plan { passes: (0..passes).map(pass).collect() }
}
