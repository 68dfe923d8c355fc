//! What is known of a pool's mappings.
//!
//! Memory that backs a pool comes, goes and moves in *steps*: pieces of one size, aligned at their addresses. A step stays
//! where it is as long as anything is allocated in it. Where no free run of addresses is long enough for a request, the
//! driver may take steps that nothing is allocated in away from their addresses and map them together at new ones. It says
//! nothing of that; the backing does not grow. So the steps that are known to be mapped are kept: an allocation that lies
//! among them takes nothing away from others, and one that lies elsewhere is explained by new backing, by a size that one
//! step holds, by there being no step that was free to move, or not at all.
//!
//! An H200 (driver 580.159.04) has steps of 32 MiB: pools grew by multiples of that at multiples of that, requests of 40 and
//! of 100 MiB beside pieces of 3 and of 20 MiB, every second of which was free, made them grow, and one of 640 MiB beside
//! free pieces of 64 MiB moved those. Where a pool's size says otherwise, steps are taken to be smaller.

use kreplay_engine::Range;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Memory of a device is mapped in pages of this size, or larger ones: no step is smaller.
const PAGE: u64 = 2 << 20;

/// The largest steps that are believed in.
const STEP: u64 = 32 << 20;

/// Addresses of one pool.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Bytes of a step, as far as the pool's size has shown.
    step: u64,
    /// Steps that are mapped, by address over bytes, and how many allocations touch each.
    steps: BTreeMap<u64, u32>,
    /// Steps that allocations touch.
    used: u64,
    /// What the program has allocated: base and bytes.
    allocated: BTreeMap<u64, u64>,
}

impl Default for Mapped {
    fn default() -> Self {
        Self { step: STEP, steps: BTreeMap::new(), used: 0, allocated: BTreeMap::new() }
    }
}

impl Mapped {
    /// The pool is backed by this many bytes now. Returns `false` where what was believed of its steps cannot be.
    pub(super) fn backed_by(&mut self, reserved: u64) -> bool {
        let mut step = self.step;
        while step > PAGE && !reserved.is_multiple_of(step) {
            step /= 2;
        }
        let mut right = self.shorten(step);
        // Steps lie at multiples of their size, or more of them would be touched than there are.
        while self.step > PAGE && self.used * self.step > reserved {
            right &= self.shorten(self.step / 2);
        }
        right
    }

    /// Returns whether steps were as short before.
    fn shorten(&mut self, step: u64) -> bool {
        if step == self.step {
            return true;
        }
        self.step = step;
        (self.steps, self.used) = (BTreeMap::new(), 0);
        for (base, bytes) in std::mem::take(&mut self.allocated) {
            self.place(Range::new(base, bytes));
        }
        false
    }

    /// The program got this range, and the backing grew from `before` to `after` bytes.
    ///
    /// # Errors
    /// What cannot be explained: memory that was mapped elsewhere may be here now.
    pub(super) fn allocated(&mut self, range: Range, before: u64, after: u64) -> Result<(), String> {
        if before == 0 && range.bytes > PAGE {
            // The first in an empty pool is where a step begins.
            self.shorten(
                self.step.min(1 << range.base.trailing_zeros().clamp(PAGE.trailing_zeros(), STEP.trailing_zeros())),
            );
        }
        let (unknown, growth) = (self.unknown(range), after.saturating_sub(before));
        let explained = range.bytes <= self.step || unknown <= growth || self.free_steps(before) == 0;
        let explanation = if explained {
            Ok(())
        } else {
            let error = format!(
                "of {} bytes allocated at {:#x}, {unknown} lie where nothing was known to be mapped, and the pool grew by {growth} \
                 to {after}, with {} steps of {} free to move",
                range.bytes,
                range.base,
                self.free_steps(before),
                self.step,
            );
            // Where it came from is not known.
            self.forget_unused();
            Err(error)
        };
        self.place(range);
        explanation
    }

    /// Whether the driver may move memory for a request of this many bytes, of a pool that is backed by `reserved`.
    pub(super) fn may_move(&self, bytes: u64, reserved: u64) -> bool {
        bytes > self.step && self.free_steps(reserved) > 0 && self.longest_free() < bytes
    }

    /// The program frees what begins here. Returns its bytes.
    pub(super) fn freed(&mut self, base: u64) -> Option<u64> {
        let bytes = self.allocated.remove(&base)?;
        for step in touched(Range::new(base, bytes), self.step) {
            if let Some(users) = self.steps.get_mut(&step).filter(|users| **users > 0) {
                *users -= 1;
                self.used -= u64::from(*users == 0);
            }
        }
        Some(bytes)
    }

    /// A free failed.
    pub(super) fn kept(&mut self, range: Range) {
        self.place(range);
    }

    /// Backing that nothing is allocated in may have gone.
    pub(super) fn forget_unused(&mut self) {
        self.steps.retain(|_, users| *users > 0);
    }

    fn place(&mut self, range: Range) {
        self.freed(range.base);
        for step in touched(range, self.step) {
            let users = self.steps.entry(step).or_default();
            self.used += u64::from(*users == 0);
            *users += 1;
        }
        self.allocated.insert(range.base, range.bytes);
    }

    /// Most steps that nothing is allocated in, known or not, of a pool that is backed by `reserved` bytes.
    fn free_steps(&self, reserved: u64) -> u64 {
        (reserved / self.step).saturating_sub(self.used)
    }

    /// Bytes of a range that are not known to be mapped.
    fn unknown(&self, range: Range) -> u64 {
        touched(range, self.step)
            .filter(|step| !self.steps.contains_key(step))
            .map(|step| range.end().min((step + 1) * self.step) - range.base.max(step * self.step))
            .sum()
    }

    /// Bytes of the longest run of addresses that is known to be mapped and that nothing is allocated in.
    fn longest_free(&self) -> u64 {
        let mut allocated = self.allocated.iter().peekable();
        let (mut longest, mut begin, mut end) = (0, 0, 0);
        for step in self.steps.keys() {
            let from = step * self.step;
            if from != end {
                longest = longest.max(end.saturating_sub(begin));
                begin = from;
            }
            end = from + self.step;
            while let Some((base, bytes)) = allocated.next_if(|(base, _)| **base < end) {
                longest = longest.max(base.saturating_sub(begin));
                begin = begin.max(base + bytes);
            }
        }
        longest.max(end.saturating_sub(begin))
    }
}

/// The steps that a range touches.
fn touched(range: Range, step: u64) -> RangeInclusive<u64> {
    range.base / step..=range.end().saturating_sub(1).max(range.base) / step
}

#[cfg(test)]
#[path = "mapped_tests.rs"]
mod tests;
