//! A recorder that keeps everything.

use crate::lock::lock;
use crate::{AgentId, AgentRecord, DispatchId, DispatchRecord, Reading, Recorder, WindowRecord};
use std::sync::{Arc, Mutex};

/// See the module.
#[derive(Debug, Default)]
pub struct Log {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    dispatches: Vec<DispatchRecord>,
    windows: Vec<WindowRecord>,
    readings: Vec<(DispatchId, Vec<Reading>)>,
    lost: Vec<(DispatchId, String)>,
    warnings: Vec<(&'static str, String)>,
    not_selected: u64,
}

impl Log {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The dispatches recorded so far, which are taken out.
    pub fn take_dispatches(&self) -> Vec<DispatchRecord> {
        std::mem::take(&mut lock(&self.kept).dispatches)
    }

    /// The newest dispatch's record.
    ///
    /// # Panics
    /// When there is none.
    pub fn last_dispatch(&self) -> DispatchRecord {
        lock(&self.kept).dispatches.last().cloned().expect("a dispatch was recorded")
    }

    /// The windows recorded so far.
    pub fn windows(&self) -> Vec<WindowRecord> {
        lock(&self.kept).windows.clone()
    }

    /// The readings so far, by dispatch.
    pub fn readings(&self) -> Vec<(DispatchId, Vec<Reading>)> {
        lock(&self.kept).readings.clone()
    }

    /// The dispatches whose values are lost so far, and why.
    pub fn lost(&self) -> Vec<(DispatchId, String)> {
        lock(&self.kept).lost.clone()
    }

    /// The keys of the warnings so far.
    pub fn warnings(&self) -> Vec<&'static str> {
        lock(&self.kept).warnings.iter().map(|(key, _)| *key).collect()
    }

    /// Dispatches that were not selected.
    pub fn not_selected(&self) -> u64 {
        lock(&self.kept).not_selected
    }
}

impl Recorder for Log {
    fn agent(&self, _: AgentRecord) {}

    fn dispatch(&self, record: DispatchRecord) {
        lock(&self.kept).dispatches.push(record);
    }

    fn window(&self, record: WindowRecord) {
        lock(&self.kept).windows.push(record);
    }

    fn readings(&self, dispatch: DispatchId, readings: Vec<Reading>) {
        lock(&self.kept).readings.push((dispatch, readings));
    }

    fn lost(&self, dispatches: &[DispatchId], why: String) {
        lock(&self.kept).lost.extend(dispatches.iter().map(|dispatch| (*dispatch, why.clone())));
    }

    fn not_selected(&self, _: AgentId) {
        lock(&self.kept).not_selected += 1;
    }

    fn warn(&self, key: &'static str, message: String) {
        lock(&self.kept).warnings.push((key, message));
    }
}
