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
    /// Of something that a batch window holds: whose, and the dispatch's place in it where it is counted.
    recorded: Option<(Arc<Engine<A>>, Option<u32>)>,
    // Dropped in this order.
    _turn: Option<Alone>,
    _hold: Shared,
}

impl<A: Agent> RunGuard<A> {
    pub(crate) fn new(hold: Shared) -> Self {
        Self { recorded: None, _turn: None, _hold: hold }
    }

    /// Of something that runs between the dispatches of a window, which does not hold it.
    pub(super) fn beside(hold: Shared, turn: Alone) -> Self {
        Self { recorded: None, _turn: Some(turn), _hold: hold }
    }

    /// Of something that was recorded; `index` is its place where it is a dispatch that is counted.
    pub(super) fn recorded(hold: Shared, turn: Alone, engine: Arc<Engine<A>>, index: Option<u32>) -> Self {
        Self { recorded: Some((engine, index)), _turn: Some(turn), _hold: hold }
    }

    /// In place of dropping it: the vendor's call failed, so nothing runs. A batch window that holds the call did not go as
    /// it is recorded then: it is not replayed, and its dispatches decline. The program gets its own return code.
    pub fn failed(self, message: &str) {
        if let Some((engine, _)) = &self.recorded {
            engine.batch_call_failed(message);
        }
    }
}

impl<A: Agent> Drop for RunGuard<A> {
    fn drop(&mut self) {
        if let Some((engine, Some(index))) = self.recorded.take() {
            engine.batch_submitted(index);
        }
    }
}
