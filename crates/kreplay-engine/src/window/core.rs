//! What every window has, whatever it holds.

use super::counting::Counting;
use crate::engine::{Belief, Engine, Looked};
use crate::gate::Alone;
use crate::lock::lock;
use crate::shadow::{Footprint, WriteSet};
use crate::timing::Stopwatch;
use crate::verify::Outputs;
use crate::{
    Agent, Audit, Bytes, ClosingReason, DispatchInfo, Divergence, Phases, RestoreMode, ShadowMode, Tier, Towards,
    WindowId, WindowKind, WindowRecord,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How memory is put back in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Not at all: one pass.
    None,
    /// Whole footprint out and back.
    Full,
    /// By the write set.
    Observed,
}

/// What a window works on: memory, its snapshot, what is known of writes, times and bytes.
pub(crate) struct Core<A: Agent> {
    pub(super) engine: Arc<Engine<A>>,
    /// The gate. A batch window that records, and a window that is over, do not hold it.
    pub(super) alone: Option<Alone>,
    pub(super) window: WindowId,
    pub(super) method: Method,
    pub(super) belief: Belief,
    pub(super) counting: Counting,
    pub(super) footprint: Footprint,
    pub(super) looked: Looked,
    /// What pass 0 wrote.
    pub(super) written: WriteSet,
    /// What is put back between passes: the write set, and what was seen to escape it.
    pub(super) restored: WriteSet,
    pub(super) outputs: Outputs,
    /// A pass may have changed memory, and it was not put back yet.
    pub(super) dirty: bool,
    /// The snapshot is whole.
    pub(super) captured: bool,
    /// The shadow equals memory, but for what was written since by calls that were seen.
    pub(super) in_step: bool,
    /// Backing may still be in use by work that does not end.
    pub(super) stuck: bool,
    pub(super) divergence: Option<Divergence>,
    pub(super) audit: Option<Audit>,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<(&'static str, String)>,
    pub(super) phases: Phases,
    pub(super) bytes: Bytes,
    pub(super) watch: Stopwatch,
    /// Changes of the inventory when this window last looked.
    inventory_seen: u64,
}

impl<A: Agent> Core<A> {
    /// A window on `footprint`; `replays` unless it runs once.
    pub(super) fn new(
        engine: Arc<Engine<A>>,
        alone: Alone,
        counting: Counting,
        (footprint, looked): (Footprint, Looked),
        phases: Phases,
        replays: bool,
    ) -> Self {
        let settings = &engine.process.settings;
        let observes = engine.description.capabilities.observe;
        let (method, belief) = match settings.restore {
            _ if !replays => (Method::None, Belief::Nothing),
            RestoreMode::Observed if observes => {
                let trusted = settings.shadow == ShadowMode::Trusted;
                (Method::Observed, if trusted { lock(&engine.trust).next() } else { Belief::Nothing })
            }
            RestoreMode::Observed | RestoreMode::Full => (Method::Full, Belief::Nothing),
        };
        let nothing = WriteSet::empty(footprint.all(), settings.chunk);
        let mut core = Self {
            window: engine.process.next_window(),
            inventory_seen: engine.inventory_changes.load(Ordering::Acquire),
            alone: Some(alone),
            method,
            belief,
            counting,
            written: nothing.clone(),
            restored: nothing,
            outputs: Outputs::off(),
            dirty: false,
            captured: false,
            in_step: false,
            stuck: false,
            divergence: None,
            audit: None,
            notes: Vec::new(),
            warnings: Vec::new(),
            phases,
            bytes: Bytes { footprint: footprint.bytes(), ..Bytes::default() },
            watch: Stopwatch::start(),
            footprint,
            looked,
            engine,
        };
        core.note_method(observes);
        core
    }

    fn note_method(&mut self, observes: bool) {
        if self.method == Method::Full && !observes {
            self.notes.push("the device cannot compare memory: full restore, passes not checked".into());
        }
    }

    /// The time since the last lap belongs to this phase.
    pub(super) fn lap(&mut self, phase: impl FnOnce(&mut Phases) -> &mut Duration) {
        self.watch.lap(phase(&mut self.phases));
    }

    /// The agent, free of this window's borrow.
    pub(super) fn agent(&self) -> Arc<A> {
        Arc::clone(&self.engine.agent)
    }

    /// By when a step must be done.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.engine.process.settings.pass_deadline
    }

    /// Leaves out what died since the last look: nothing is read from it or written to it any more.
    pub(super) fn refresh(&mut self) {
        let changes = self.engine.inventory_changes.load(Ordering::Acquire);
        if std::mem::replace(&mut self.inventory_seen, changes) == changes {
            return;
        }
        if self.footprint.refresh(&lock(&self.engine.inventory)) {
            self.outputs.stop();
            self.notes.push("memory was freed within the window: the passes were not checked any further".into());
        }
    }

    /// Keeps the first divergence.
    pub(super) fn diverged(&mut self, divergence: Option<Divergence>) {
        if self.divergence.is_none() {
            self.divergence = divergence;
        }
    }

    /// Bytes copied to the snapshot, or put back from it.
    pub(super) fn count_copied(&mut self, towards: Towards, tier: Tier, bytes: u64) {
        *match (towards, tier) {
            (Towards::Shadow, Tier::Device) => &mut self.bytes.captured_device,
            (Towards::Shadow, Tier::Host) => &mut self.bytes.captured_host,
            (Towards::Memory, Tier::Device) => &mut self.bytes.restored_device,
            (Towards::Memory, Tier::Host) => &mut self.bytes.restored_host,
        } += bytes;
    }

    /// Begins counting a pass, if the policy wants it counted and the plan has it.
    pub(super) fn begin_counting(&mut self, info: &DispatchInfo, pass: u32) {
        let engine = Arc::clone(&self.engine);
        let counts = engine.process.policy.services(info, pass).counters;
        let planned = engine.plan.passes.get(pass as usize);
        if counts && planned.is_none() && engine.counters.is_some() {
            let planned = engine.plan.passes.len();
            self.notes.push(format!("pass {pass} ran uncounted: the plan has {planned} passes"));
        }
        self.counting.begin(pass, planned.filter(|_| counts));
    }

    /// Lets go of shadow and gate: the window touches nothing any more.
    pub(super) fn release(&mut self) {
        let engine = Arc::clone(&self.engine);
        if engine.process.settings.shadow == ShadowMode::Trusted && !self.in_step {
            engine.stale.everything();
        }
        self.bytes.host_high_water = engine.process.staging.high_water(engine.description.id);
        let mut shadow = lock(&engine.shadow);
        self.bytes.device_held = shadow.device_held();
        if self.stuck {
            // What was queued may still change entries, whatever their hashes say by now.
            shadow.distrust();
        } else {
            let observed = self.method == Method::Observed;
            shadow.window_ended(&self.footprint, self.in_step && observed, observed);
        }
        drop(shadow);
        self.notes.append(&mut self.counting.take_notes());
        self.lap(|phases| &mut phases.commit);
        drop(self.alone.take());
    }

    /// What the recorder is told of the window.
    pub(super) fn window_record(
        &self,
        kind: WindowKind,
        dispatches: u32,
        operations: u32,
        closing: ClosingReason,
    ) -> WindowRecord {
        let counters = self.engine.counters.as_ref();
        WindowRecord {
            id: self.window,
            agent: self.engine.description.id,
            kind,
            dispatches,
            operations,
            closing,
            call: crate::call::closing(closing),
            phases: self.phases,
            bytes: self.bytes,
            clock_mhz: counters.filter(|_| self.counting.has_read()).and_then(|counters| counters.clock_mhz()),
        }
    }
}
