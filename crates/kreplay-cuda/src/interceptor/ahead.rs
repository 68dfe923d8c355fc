//! Getting ready beside the program: what its first window needs is asked for as soon as there is a context. Asking what can be
//! counted, planning and programming the hardware take CUPTI most of a second, and programs seldom launch right away: one that
//! begins in Python takes seconds to get so far.

use super::{Interceptor, locked};
use crate::agent::{Current, Depth};
use crate::tables::Context;

impl Interceptor {
    /// Makes the engine of a context that was just created, and lets its counters prepare the first window; on a thread beside the
    /// program. A launch that comes meanwhile waits, as it would if it had begun this itself.
    pub(super) fn get_ready(&self, context: Context) {
        let Some(state) = self.contexts.get(context) else { return };
        // As the program loads a library threads may not begin, which a capture of its would wait for.
        if !state.may_wait() {
            return;
        }
        let over = locked(&state.over);
        // Nothing may be allocated or waited for while the program captures.
        if *over || self.capturing() || !self.is_alive() {
            return;
        }
        let _depth = Depth::enter();
        let Ok(_current) = Current::enter(&self.driver, context) else { return };
        let Some(driven) = state.drive(self) else { return };
        if let Some(counters) = &driven.counters {
            counters.prepare(driven.engine.plan(), driven.engine.next_length());
        }
    }

    /// Waits for what [`Interceptor::get_ready`] is doing. A capture was counted before, so nothing begins anew.
    pub(super) fn wait_until_ready(&self) {
        for state in self.all_contexts() {
            drop(locked(&state.over));
        }
    }
}
