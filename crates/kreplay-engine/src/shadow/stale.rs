//! What was written since the shadow was last in step with memory. Kept only for `--shadow trusted`.

use super::Footprint;
use crate::Range;
use crate::lock::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ranges that are kept apart before all of memory counts as written.
const MOST_RANGES: usize = 4096;

/// Writes by calls that were seen, and whether there was any whose extent is not known.
#[derive(Debug, Default)]
pub(crate) struct StaleLog {
    ranges: Mutex<Vec<Range>>,
    everything: AtomicBool,
}

impl StaleLog {
    /// A call wrote this range.
    pub(crate) fn written(&self, range: Range) {
        if range.bytes == 0 || self.everything.load(Ordering::Relaxed) {
            return;
        }
        let mut ranges = lock(&self.ranges);
        if ranges.len() < MOST_RANGES {
            ranges.push(range);
        } else {
            ranges.clear();
            self.everything.store(true, Ordering::Relaxed);
        }
    }

    /// Something ran whose writes are not known, such as a dispatch outside windows. One relaxed load when that is
    /// known already.
    pub(crate) fn everything(&self) {
        if !self.everything.load(Ordering::Relaxed) {
            self.everything.store(true, Ordering::Relaxed);
        }
    }

    /// Hands the ranges to the regions that they fall into. Returns whether everything counts as written. Called with the
    /// gate held alone, before memory is looked at: what comes in after this was not seen by that look, and stays.
    pub(crate) fn take(&self, footprint: &mut Footprint) -> bool {
        let mut ranges = lock(&self.ranges);
        for tracked in footprint.all_mut() {
            let region = tracked.range;
            tracked.stale = ranges
                .iter()
                .filter(|range| range.overlaps(region))
                .map(|range| {
                    let base = range.base.max(region.base);
                    Range::new(base, range.end().min(region.end()) - base)
                })
                .collect();
        }
        let inside =
            |range: &Range| footprint.all().iter().any(|t| t.range.base <= range.base && range.end() <= t.range.end());
        ranges.retain(|range| !inside(range));
        self.everything.swap(false, Ordering::Relaxed)
    }
}
