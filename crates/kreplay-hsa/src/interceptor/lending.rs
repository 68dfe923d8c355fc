//! Host memory that a kernel is given.
//!
//! Host memory is written by the host at any time, so a window must not put it back while other threads may be writing.
//! But a kernel that is handed a pointer to it writes it too, and then each of its passes must find it as it was. So host
//! memory is captured only in the windows of kernels whose arguments point into it; for all others it stays what it is: a
//! reason to decline. The memory must be accessible to the GPU, or the copy would fault.
//!
//! HIP's buffer for `printf` and other calls to the host (hostcall) is such memory too. A thread of HIP's changes it while
//! the kernel runs, and each pass would print again: a kernel that is given one is not replayed. It is told by its
//! beginning: two pointers into itself.

use super::live::{Allocation, Reached};
use super::state::Backend;
use kreplay_engine::{Region, RegionKind, Writers};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Loans by GPU and address.
#[derive(Default)]
pub(crate) struct Loans(Mutex<BTreeMap<(usize, u64), u32>>);

impl Loans {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(usize, u64), u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Host memory that can be captured as long as this lives.
pub(super) struct Lent<'a> {
    backend: &'a Backend,
    unit: usize,
    allocations: Vec<Allocation>,
}

impl Backend {
    /// Whether a launch that reaches this has to be lent host memory.
    pub(super) fn lends(&self, reached: &Reached) -> bool {
        reached.lendable.iter().any(|allocation| !is_hostcall(allocation))
    }

    /// Lends a GPU's engine the host memory that these argument bytes point into.
    pub(super) fn lend(&self, unit: usize, arguments: &[u8]) -> Lent<'_> {
        let mut lent = Lent { backend: self, unit, allocations: Vec::new() };
        for allocation in self.allocations.reached(arguments, unit, &[]).lendable {
            if !is_hostcall(&allocation) {
                lent.take(allocation);
            }
        }
        lent
    }

    fn change(&self, unit: usize, allocation: &Allocation, copyable: bool) {
        self.units()[unit].engine.region_changed(Region {
            range: allocation.range,
            kind: RegionKind::Host { copyable },
            writers: Writers::Others,
        });
    }
}

impl Lent<'_> {
    fn take(&mut self, allocation: Allocation) {
        let _change = self.backend.allocations.changing();
        // It may have been exported since it was found.
        if !self.backend.allocations.is_lendable(allocation.range) {
            return;
        }
        let count = {
            let mut loans = self.backend.loans.lock();
            let count = loans.entry((self.unit, allocation.range.base)).or_default();
            *count += 1;
            *count
        };
        // The loans' lock is not held here: a change waits for windows of other threads.
        if count == 1 {
            self.backend.change(self.unit, &allocation, true);
        }
        self.allocations.push(allocation);
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        for allocation in &self.allocations {
            let _change = self.backend.allocations.changing();
            let key = (self.unit, allocation.range.base);
            let last = {
                let mut loans = self.backend.loans.lock();
                let left = loans.get(&key).map_or(0, |count| count.saturating_sub(1));
                if left == 0 {
                    loans.remove(&key);
                } else {
                    loans.insert(key, left);
                }
                left == 0
            };
            // A free in between has ended the region, which is not to come to life again, or others may write it now.
            if last && self.backend.allocations.is_lendable(allocation.range) {
                self.backend.change(self.unit, allocation, false);
            }
        }
    }
}

/// Whether the memory begins as HIP's hostcall buffer does.
fn is_hostcall(allocation: &Allocation) -> bool {
    if !allocation.host_address || allocation.range.bytes < 16 || !allocation.range.base.is_multiple_of(8) {
        return false;
    }
    // SAFETY: live host memory of the runtime, 16 bytes at least, which the host can read; another thread may be writing
    // it, so the words are read as volatile.
    let words = unsafe {
        let base = allocation.range.base as *const u64;
        [base.read_volatile(), base.add(1).read_volatile()]
    };
    words.iter().all(|word| allocation.range.contains(*word))
}
