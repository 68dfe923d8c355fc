//! What becomes of a launch, and the guard under which the program's own calls run.

use crate::gate::Shared;
use crate::{Agent, Window};
use std::marker::PhantomData;

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
    _hold: Shared,
    _agent: PhantomData<fn() -> A>,
}

impl<A: Agent> RunGuard<A> {
    pub(crate) fn new(hold: Shared) -> Self {
        Self { _hold: hold, _agent: PhantomData }
    }
}
