//! The state of an open kernel window.

use super::core::Core;
use super::counting::Counting;
use crate::engine::{Engine, Looked, Refusal};
use crate::gate::Alone;
use crate::lock::lock;
use crate::shadow::Footprint;
use crate::{Agent, Decline, DispatchId, DispatchInfo, Phases};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

/// A dispatch that may have a window.
pub(crate) struct Admitted<A: Agent> {
    pub(crate) id: DispatchId,
    pub(crate) start: Duration,
    pub(crate) asked: u32,
    /// `None` when it is counted once.
    pub(crate) work: Option<A::Work>,
    pub(crate) info: DispatchInfo,
    pub(crate) thread: u64,
}

/// Where the window is.
pub(super) enum Stage {
    Opened,
    HandedBack,
    GivenUp(Refusal),
}

/// See the module.
pub(crate) struct Open<A: Agent> {
    pub(super) core: Core<A>,
    pub(super) dispatch: Admitted<A>,
    pub(super) stage: Stage,
    pub(super) passes_done: u32,
}

impl<A: Agent> Open<A> {
    pub(super) fn new(
        engine: Arc<Engine<A>>,
        alone: Alone,
        dispatch: Admitted<A>,
        placed: (Footprint, Looked),
        phases: Phases,
    ) -> Result<Self, Refusal> {
        let counting = match Counting::open(engine.counters.as_ref(), &engine.plan, 1) {
            Ok(counting) => counting,
            Err(error) => {
                lock(&engine.shadow).window_cancelled();
                return Err(Refusal::new(Decline::CountersUnavailable, error));
            }
        };
        let core = Core::new(engine, alone, counting, placed, phases, dispatch.work.is_some());
        Ok(Self { core, dispatch, stage: Stage::Opened, passes_done: 0 })
    }
}

impl<A: Agent> Deref for Open<A> {
    type Target = Core<A>;

    fn deref(&self) -> &Core<A> {
        &self.core
    }
}

impl<A: Agent> DerefMut for Open<A> {
    fn deref_mut(&mut self) -> &mut Core<A> {
        &mut self.core
    }
}
