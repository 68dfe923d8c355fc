//! Memory of the host that the program has asked to be written in the order of a stream, by a copy or by a function of its own.
//! Until that has happened nobody knows what a copy from there will copy, so what is saved of it then would be old.

use super::{Interceptor, locked};
use kreplay_engine::Agent;
use std::sync::Mutex;
use std::time::Instant;

/// Ranges that are remembered one by one.
const MOST: usize = 256;

/// What may still be written.
#[derive(Debug, Default)]
pub(super) struct HostWrites(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    /// Base and bytes.
    ranges: Vec<(u64, u64)>,
    /// Anything.
    anything: bool,
}

impl HostWrites {
    fn note(&self, base: u64, bytes: u64) {
        let mut pending = locked(&self.0);
        if pending.ranges.len() < MOST {
            pending.ranges.push((base, bytes));
        } else {
            pending.anything = true;
        }
    }

    fn touches(&self, base: u64, bytes: u64) -> bool {
        let pending = locked(&self.0);
        let overlaps =
            |(other, length): &(u64, u64)| base < other.saturating_add(*length) && *other < base.saturating_add(bytes);
        pending.anything || pending.ranges.iter().any(overlaps)
    }
}

impl Interceptor {
    /// The host's memory will be written there.
    pub(super) fn host_written(&self, base: u64, bytes: u64) {
        if self.records {
            self.host_writes.note(base, bytes);
        }
    }

    /// A function of the program's will run, and may write anything that is the host's.
    pub(super) fn host_function(&self) {
        locked(&self.host_writes.0).anything = true;
    }

    /// Waits until nothing is on its way to these bytes of the host, where something may be. `false` when that takes too long.
    pub(super) fn host_settled(&self, base: u64, bytes: u64) -> bool {
        if !self.records || !self.host_writes.touches(base, bytes) {
            return true;
        }
        // What is noted from now on is not waited for.
        let before = std::mem::take(&mut *locked(&self.host_writes.0));
        let deadline = Instant::now() + self.process.settings().drain_deadline;
        let states = self.all_contexts();
        let settled =
            states.iter().filter_map(|state| state.driven()).all(|driven| driven.agent.drain(deadline).is_ok());
        if !settled {
            let mut pending = locked(&self.host_writes.0);
            pending.anything |= before.anything;
            pending.ranges.extend(before.ranges);
        }
        settled
    }
}
