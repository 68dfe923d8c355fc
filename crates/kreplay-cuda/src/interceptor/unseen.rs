//! Launches in contexts without an engine: nothing is profiled there, but others that sample the device count it all the same.

use super::Interceptor;
use super::context::ContextState;
use crate::agent::{Bystander, CONTEXTS};
use std::sync::atomic::Ordering;

impl ContextState {
    /// Something is launched without an engine.
    pub(super) fn launches_unseen(&self, interceptor: &Interceptor) {
        let known = self.bystander.get().unwrap_or_else(|| {
            let made = self.bystander.get_or_init(|| Bystander::enter(&interceptor.driver, self.context));
            if CONTEXTS.load(Ordering::Relaxed) > 1 {
                interceptor.end_beside(made.device(), self.context);
            }
            made
        });
        known.note_launch();
    }

    /// Nobody has to look out for launches without an engine any more.
    pub(super) fn seen_from_now_on(&self) {
        if let Some(bystander) = self.bystander.get() {
            bystander.leave();
        }
    }
}
