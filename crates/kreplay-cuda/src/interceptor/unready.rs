//! Launches for which no engine can be made, or no window opened, now: nothing may be waited for while something is captured, or as the
//! program loads a library.

use super::Interceptor;
use super::context::{ContextState, Driven, EarlyCall};
use super::peers::Beside;
use super::pending::push_without_engine;
use crate::tables::callback::CallbackData;
use kreplay_engine::{Decline, DispatchId, DispatchInfo};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Interceptor {
    /// The engine of a context for something that is launched, made where there is none; and why no window may be opened, or engine made,
    /// now.
    pub(super) fn engine_now<'s>(&self, state: &'s ContextState) -> (Option<&'s Driven>, Option<Decline>) {
        if self.capturing() {
            (state.driven(), Some(Decline::StreamCapture))
        } else if !state.may_wait() {
            (state.driven(), Some(Decline::LoaderHeld))
        } else {
            let driven = state.drive(self);
            if driven.is_none() {
                // Nothing will ever be waited for.
                state.has_waited();
            }
            (driven, None)
        }
    }

    /// Something is launched in a context that has no engine: because of `unwaited`, or as none could be made, which was reported.
    #[cold]
    pub(super) fn without_engine(
        &self,
        data: &CallbackData,
        state: &Arc<ContextState>,
        (selected, info, unwaited): (Option<DispatchId>, &DispatchInfo, Option<Decline>),
        beside: Beside,
    ) {
        let early = self.tell_without_engine(state, selected, info, unwaited);
        push_without_engine(data.correlation_id, early, beside);
    }

    /// The same; gives what has to last until the call returns.
    #[cold]
    pub(super) fn tell_without_engine(
        &self,
        state: &Arc<ContextState>,
        selected: Option<DispatchId>,
        info: &DispatchInfo,
        unwaited: Option<Decline>,
    ) -> Option<EarlyCall> {
        state.launches_unseen(self);
        let call = state.early_call();
        if let (Some(id), Some(reason)) = (selected, unwaited) {
            self.process.decline(state.agent_id(self), id, info, reason);
        }
        call
    }
}

impl ContextState {
    /// Whether threads of ours may be waited for. Not where the thread is within the begin or the end of a library: it holds the
    /// loader, and they may need it as they start. Asked until one launch has waited for them: until then another thread that waits
    /// may hold the engine.
    pub(super) fn may_wait(&self) -> bool {
        self.waited.load(Ordering::Relaxed) || super::loader_is_free()
    }

    /// A launch has waited for whatever it needed.
    pub(super) fn has_waited(&self) {
        if !self.waited.load(Ordering::Relaxed) {
            self.waited.store(true, Ordering::Relaxed);
        }
    }
}
