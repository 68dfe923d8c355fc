//! What the live line shows.

use std::sync::atomic::{AtomicU64, Ordering};

use kreplay_protocol::{Dispatch, FromLibrary, Outcome};

/// Counts of a running profile.
#[derive(Debug, Default)]
pub(super) struct Progress {
    kernels: AtomicU64,
    passes: AtomicU64,
    declined: AtomicU64,
    processes: AtomicU64,
}

impl Progress {
    /// Another process.
    pub(super) fn add_process(&self) {
        self.processes.fetch_add(1, Ordering::Relaxed);
    }

    /// What a process said.
    pub(super) fn add(&self, message: &FromLibrary) {
        if let FromLibrary::Dispatch(dispatch) = message {
            let Dispatch { passes_done, outcome, .. } = **dispatch;
            self.kernels.fetch_add(1, Ordering::Relaxed);
            self.passes.fetch_add(u64::from(passes_done), Ordering::Relaxed);
            self.declined.fetch_add(u64::from(outcome == Outcome::Declined), Ordering::Relaxed);
        }
    }

    /// One line.
    pub(super) fn line(&self) -> String {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut line = format!("{} kernels, {} passes", get(&self.kernels), get(&self.passes));
        if get(&self.declined) > 0 {
            line.push_str(&format!(", {} declined", get(&self.declined)));
        }
        if get(&self.processes) > 1 {
            line.push_str(&format!(", {} processes", get(&self.processes)));
        }
        line
    }
}
