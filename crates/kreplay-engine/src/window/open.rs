//! The state of an open window.

use super::counting::Counting;
use crate::engine::{Belief, Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::shadow::{Footprint, WriteSet};
use crate::timing::Stopwatch;
use crate::verify::Outputs;
use crate::{
    Agent, Bytes, Decline, DispatchId, DispatchInfo, Divergence, Phases, RestoreMode, ShadowMode, Tier, WindowId,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A dispatch that may have a window.
pub(crate) struct Admitted<A: Agent> {
    pub(crate) id: DispatchId,
    pub(crate) start: Duration,
    pub(crate) asked: u32,
    /// `None` when it is counted once.
    pub(crate) work: Option<A::Work>,
    pub(crate) footprint: Footprint,
    pub(crate) looked: Looked,
    pub(crate) phases: Phases,
    pub(crate) info: DispatchInfo,
    pub(crate) thread: u64,
}

/// How memory is put back in this window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Not at all: one pass.
    None,
    /// Whole footprint out and back.
    Full,
    /// By the write set.
    Observed,
}

/// Where the window is.
pub(super) enum Stage {
    Opened,
    HandedBack,
    GivenUp(Refusal),
}

/// See the module.
pub(crate) struct Open<A: Agent> {
    pub(super) engine: Arc<Engine<A>>,
    /// `None` only at the very end, when the gate is open again.
    pub(super) alone: Option<Alone>,
    pub(super) window: WindowId,
    pub(super) dispatch: Admitted<A>,
    pub(super) method: Method,
    pub(super) belief: Belief,
    pub(super) stage: Stage,
    pub(super) counting: Counting,
    /// What pass 0 wrote.
    pub(super) written: WriteSet,
    /// What is put back between passes: the write set, and what was seen to escape it.
    pub(super) restored: WriteSet,
    pub(super) outputs: Outputs,
    /// A pass may have changed memory, and it was not put back yet.
    pub(super) dirty: bool,
    /// The snapshot is whole.
    pub(super) captured: bool,
    /// The shadow equals memory, as far as the window looked.
    pub(super) in_step: bool,
    /// Backing may still be in use by work that does not end.
    pub(super) stuck: bool,
    pub(super) passes_done: u32,
    pub(super) divergence: Option<Divergence>,
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<(&'static str, String)>,
    pub(super) bytes: Bytes,
    pub(super) watch: Stopwatch,
    /// Changes of the inventory when this window last looked.
    inventory_seen: u64,
}

impl<A: Agent> Open<A> {
    pub(super) fn new(engine: Arc<Engine<A>>, alone: Alone, dispatch: Admitted<A>) -> Result<Self, Refusal> {
        let settings = &engine.process.settings;
        let counting = match Counting::open(engine.counters.as_ref(), &engine.plan, 1) {
            Ok(counting) => counting,
            Err(error) => {
                lock(&engine.shadow).window_ended(&dispatch.footprint, false, false);
                return Err(Refusal::new(Decline::CountersUnavailable, error));
            }
        };
        let observes = engine.description.capabilities.observe;
        let (method, belief) = match (&dispatch.work, settings.restore) {
            (None, _) => (Method::None, Belief::Nothing),
            (Some(_), RestoreMode::Observed) if observes => {
                let trusted = settings.shadow == ShadowMode::Trusted;
                (Method::Observed, if trusted { lock(&engine.trust).next() } else { Belief::Nothing })
            }
            (Some(_), _) => (Method::Full, Belief::Nothing),
        };
        let nothing = WriteSet::empty(dispatch.footprint.all(), settings.chunk);
        let mut open = Self {
            window: engine.process.next_window(),
            inventory_seen: engine.inventory_changes.load(Ordering::Acquire),
            alone: Some(alone),
            method,
            belief,
            stage: Stage::Opened,
            counting,
            written: nothing.clone(),
            restored: nothing,
            outputs: Outputs::off(),
            dirty: false,
            captured: false,
            in_step: false,
            stuck: false,
            passes_done: 0,
            divergence: None,
            notes: Vec::new(),
            warnings: Vec::new(),
            bytes: Bytes { footprint: dispatch.footprint.bytes(), ..Bytes::default() },
            watch: Stopwatch::start(),
            dispatch,
            engine,
        };
        open.note_method(observes);
        Ok(open)
    }

    fn note_method(&mut self, observes: bool) {
        if self.method == Method::Full && !observes {
            self.notes.push("the device cannot compare memory: full restore, passes not checked".into());
        }
        if self.method == Method::Observed {
            let whole = self.dispatch.footprint.select(|tracked| !tracked.observed).bytes();
            if whole > 0 {
                self.notes
                    .push(format!("{whole} bytes in host staging are copied whole; the write set counts all of them"));
            }
        }
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
        if self.dispatch.footprint.refresh(&lock(&self.engine.inventory)) {
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

    /// Bytes copied to take the snapshot.
    pub(super) fn count_captured(&mut self, tier: Tier, bytes: u64) {
        match tier {
            Tier::Device => self.bytes.captured_device += bytes,
            Tier::Host => self.bytes.captured_host += bytes,
        }
    }

    /// Bytes put back.
    pub(super) fn count_restored(&mut self, tier: Tier, bytes: u64) {
        match tier {
            Tier::Device => self.bytes.restored_device += bytes,
            Tier::Host => self.bytes.restored_host += bytes,
        }
    }
}
