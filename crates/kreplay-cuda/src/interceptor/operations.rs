//! Copies, sets and whatever else touches memory outside launches.

use super::Interceptor;
use super::ids::Written;
use super::pending::{Pending, push};
use crate::tables::callback::CallbackData;
use crate::tables::driver_structs::{CopyParams, CopyPeerParams, SetParams, SetRectangleParams};
use kreplay_engine::Range;

impl Interceptor {
    /// *Enter* of an operation: no window opens until its *exit*, and what it writes is told.
    pub(super) fn operation_enter(&self, data: &CallbackData, written: Written) {
        if self.capturing() {
            return;
        }
        let range = written_range(data, written);
        let mut guards = Vec::new();
        // An address says nothing about its context, so the operation is kept out of every window.
        for state in self.all_contexts() {
            if let Some(driven) = state.driven() {
                guards.push(driven.engine.operation());
                if let Some(range) = range {
                    driven.engine.region_written(range);
                }
            }
        }
        if !guards.is_empty() {
            push(data.correlation_id, Pending::Guards { _guards: guards });
        }
    }
}

/// What an operation writes; everything where that is not looked into.
fn written_range(data: &CallbackData, written: Written) -> Option<Range> {
    let p = data.parameters;
    match written {
        Written::Nothing => None,
        Written::Unknown => Some(Range::new(0, u64::MAX)),
        Written::Copy => {
            // SAFETY: CUPTI hands the parameters of the function that this class belongs to.
            let p = unsafe { p.cast::<CopyParams>().read() };
            Some(Range::new(p.to, p.bytes as u64))
        }
        Written::Peer => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<CopyPeerParams>().read() };
            Some(Range::new(p.to, p.bytes as u64))
        }
        Written::Set(element) => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<SetParams>().read() };
            Some(Range::new(p.to, (p.count as u64).saturating_mul(u64::from(element))))
        }
        Written::Rectangle(element) => {
            // SAFETY: as above.
            let p = unsafe { p.cast::<SetRectangleParams>().read() };
            let row = (p.width as u64).saturating_mul(u64::from(element));
            let rows = (p.height as u64).saturating_sub(1).saturating_mul(p.pitch as u64);
            Some(Range::new(p.to, rows.saturating_add(row)))
        }
    }
}
