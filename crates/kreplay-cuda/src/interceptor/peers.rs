//! What is submitted in one context and may write memory of another one: kernels with access to peers, copies between them.

use super::call::{Call, stream_of};
use super::code::FunctionInfo;
use super::context::{ContextState, Driven};
use super::ids::Form;
use super::{Interceptor, locked};
use crate::agent::{CONTEXTS, CudaAgent};
use crate::tables::callback::CallbackData;
use crate::tables::{Context, Stream};
use kreplay_engine::{Operation, Range, RunGuard};
use std::sync::atomic::Ordering;

/// What such a call holds until it was submitted.
#[derive(Default)]
pub(super) struct Beside {
    /// Keep windows of the other contexts from opening.
    pub(super) guards: Vec<RunGuard<CudaAgent>>,
    pub(super) reached: Reached,
}

impl Beside {
    /// This context's memory may be written.
    fn add(&mut self, driven: &Driven) {
        self.guards.push(driven.engine.memory_operation(Operation::Foreign));
        self.reached.push(driven);
    }
}

/// Contexts whose memory is written once a call was submitted.
#[derive(Default)]
pub(super) struct Reached {
    agents: Vec<CudaAgent>,
    /// Where that is submitted; `None`: nobody knows.
    from: Option<(Context, Stream)>,
}

impl Reached {
    /// Of a call that submits to this stream of the thread's context.
    pub(super) fn from(context: Context, stream: Stream) -> Self {
        Self { agents: Vec::new(), from: Some((context, stream)) }
    }

    /// One more.
    pub(super) fn push(&mut self, driven: &Driven) {
        self.agents.push(driven.agent.clone());
    }

    /// It was submitted, and their windows wait for it.
    pub(super) fn submitted(&self) {
        if let Some((context, stream)) = self.from {
            self.agents.iter().for_each(|agent| agent.written_from(context, stream));
        }
    }
}

impl Interceptor {
    /// A launch follows that may write memory of other contexts: that ends their windows, which could not do it again, and keeps
    /// others from opening as long as this is held.
    pub(super) fn beside_peers(&self, context: Context, stream: Stream, arguments: &[u8]) -> Beside {
        if CONTEXTS.load(Ordering::Relaxed) < 2 {
            return Beside::default();
        }
        let mut beside = Beside { reached: Reached::from(context, stream), ..Beside::default() };
        let reached = locked(&self.live).reached_elsewhere(context, arguments);
        for (owner, range) in reached {
            let Some(state) = self.contexts.get(owner) else { continue };
            if let Some(driven) = state.driven() {
                beside.add(driven);
                driven.engine.region_written(range);
            }
        }
        beside
    }

    /// A launch follows that may write memory of every other context: as above, with all of them. `stream`: where that is known.
    pub(super) fn beside_all(&self, context: Context, stream: Option<Stream>) -> Beside {
        let by = Reached { from: stream.map(|stream| (context, stream)), ..Reached::default() };
        let mut beside = Beside { reached: by, ..Beside::default() };
        for state in self.all_contexts().iter().filter(|state| state.context != context) {
            let Some(driven) = state.driven() else { continue };
            // It may run there, too.
            driven.agent.note_launch();
            beside.add(driven);
            driven.engine.region_written(Range::new(0, u64::MAX));
        }
        beside
    }

    /// As [`Interceptor::beside_peers`], of a launch in a context without an engine, where nothing else is asked of it.
    pub(super) fn beside_unprofiled(
        &self,
        data: &CallbackData,
        (form, per_thread): (Form, bool),
        state: &ContextState,
        function: &FunctionInfo,
    ) -> Beside {
        if CONTEXTS.load(Ordering::Relaxed) < 2
            // Then no window is open, or nobody may be waited for.
            || self.capturing()
            || !state.may_wait()
            || !self.all_contexts().iter().any(|other| other.driven().is_some())
        {
            return Beside::default();
        }
        // SAFETY: CUPTI hands the parameters of the function that the form belongs to.
        let Some(call) = (unsafe { Call::read(form, data.parameters) }) else {
            return self.beside_all(data.context, None);
        };
        let stream = stream_of(call.stream, per_thread);
        match call.packed_arguments(&self.driver, function) {
            Some((arguments, _)) => self.beside_peers(data.context, stream, &arguments),
            None => self.beside_all(data.context, Some(stream)),
        }
    }
}
