//! What all engines of the process share.

use crate::lock::lock;
use crate::staging::Staging;
use crate::{AgentId, Decline, DispatchId, Filter, KernelInfo, Policy, Recorder, Settings, WindowId};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Shared by all engines of the process: numbers, host budget, filter, policy, recorder, settings.
pub struct Process {
    pub(crate) settings: Settings,
    pub(crate) filter: Arc<dyn Filter>,
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) staging: Staging,
    start: Instant,
    dispatches: AtomicU64,
    windows: AtomicU64,
    warned: Mutex<BTreeSet<&'static str>>,
}

impl Process {
    /// One for the process, before its first engine.
    pub fn new(
        settings: Settings,
        filter: Arc<dyn Filter>,
        policy: Arc<dyn Policy>,
        recorder: Arc<dyn Recorder>,
    ) -> Arc<Self> {
        let staging = Staging::new(settings.host_budget);
        Arc::new(Self {
            settings,
            filter,
            policy,
            recorder,
            staging,
            start: Instant::now(),
            dispatches: AtomicU64::new(0),
            windows: AtomicU64::new(0),
            warned: Mutex::default(),
        })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Host staging in bytes that an agent's pool holds and no snapshot uses.
    pub fn retained_bytes(&self, agent: AgentId) -> u64 {
        self.staging.retained_bytes(agent)
    }

    /// Most host staging in bytes that an agent has held so far, used or retained.
    pub fn host_high_water(&self, agent: AgentId) -> u64 {
        self.staging.high_water(agent)
    }

    /// As [`Engine::select`](crate::Engine::select), for an agent that has no engine yet: the interceptor makes one when the first
    /// launch is selected, so that a process in which none is has none.
    pub fn select(&self, agent: AgentId, kernel: &KernelInfo) -> Option<DispatchId> {
        let id = self.next_dispatch();
        if !self.filter.select(kernel) {
            self.recorder.not_selected(agent);
            return None;
        }
        Some(id)
    }

    /// Whether no launch of this kernel will be selected. Then [`Process::leave_out`] may take the place of asking again.
    pub fn never_selects(&self, kernel: &KernelInfo) -> bool {
        self.filter.never(kernel)
    }

    /// As [`Process::select`], for a launch of a kernel that is never selected.
    pub fn leave_out(&self, agent: AgentId) {
        self.next_dispatch();
        self.recorder.not_selected(agent);
    }

    /// The number of the dispatch that came just now; from 1, one for each launch, selected or not.
    pub(crate) fn next_dispatch(&self) -> DispatchId {
        DispatchId(self.dispatches.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(crate) fn next_window(&self) -> WindowId {
        WindowId(self.windows.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Time since the process's engines began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The instant at which so much time has passed since.
    pub(crate) fn instant(&self, elapsed: Duration) -> Instant {
        self.start + elapsed
    }

    /// Whether this is the first time that `key` is warned about.
    pub(crate) fn first_warning(&self, key: &'static str) -> bool {
        lock(&self.warned).insert(key)
    }

    /// The text of the one warning about a reason to decline, when it was not given yet.
    pub(crate) fn first_decline(&self, reason: Decline, detail: &str) -> Option<String> {
        self.first_warning(reason.name()).then(|| {
            let behind = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
            format!("a dispatch is not replayed, {}: {}{behind}", reason.name(), reason.explanation())
        })
    }
}
