//! What becomes of a launch, and the guard under which the program's own calls run.

use super::Engine;
use crate::gate::{Alone, Shared};
use crate::{Agent, Window};
use std::sync::Arc;

/// What the interceptor does with a launch.
pub enum Decision<A: Agent> {
    /// Submit the program's own launch, then drop the guard.
    Run(RunGuard<A>),
    /// Call [`Window::run_until_last`], submit the program's own launch, then call [`Window::close`].
    Window(Window<A>),
    /// The launch was recorded in a batch window: submit the program's own launch, then drop the guard.
    Recorded(RunGuard<A>),
}

/// Held while the program submits something to the agent: no window of another thread opens meanwhile. Owned; it may be
/// dropped by another thread.
#[must_use = "drop it after the program's call was submitted"]
pub struct RunGuard<A: Agent> {
    /// The dispatch's place in a batch window.
    counted: Option<(Arc<Engine<A>>, u32)>,
    // Dropped in this order.
    _turn: Option<Alone>,
    _hold: Shared,
}

impl<A: Agent> RunGuard<A> {
    pub(crate) fn new(hold: Shared) -> Self {
        Self { counted: None, _turn: None, _hold: hold }
    }

    /// Whether a batch window holds what runs under it.
    pub fn is_recorded(&self) -> bool {
        self._turn.is_some()
    }

    /// Of something that was recorded.
    pub(super) fn recorded(hold: Shared, turn: Alone) -> Self {
        Self { counted: None, _turn: Some(turn), _hold: hold }
    }

    /// In place of dropping the guard of [`Decision::Recorded`]: the vendor's call failed, so nothing runs. The window did
    /// not go as it is recorded: it is not replayed, and its dispatches decline. The program gets its own return code.
    pub fn failed(self, engine: &Engine<A>, message: &str) {
        engine.batch_launch_failed(message);
    }

    /// Of a recorded dispatch that is counted.
    pub(super) fn counted(hold: Shared, turn: Alone, engine: Arc<Engine<A>>, index: u32) -> Self {
        Self { counted: Some((engine, index)), _turn: Some(turn), _hold: hold }
    }
}

impl<A: Agent> Drop for RunGuard<A> {
    fn drop(&mut self) {
        if let Some((engine, index)) = self.counted.take() {
            engine.batch_submitted(index);
        }
    }
}
