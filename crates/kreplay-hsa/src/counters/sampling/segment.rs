//! From a segment's samples to sums.
//!
//! A *segment* is what was sampled between a start of the stream and its stop.

use super::Samples;
use kreplay_engine::CountersError;
use kreplay_engine::sampling::{Fence, Interval, attribute_among};

/// What is known of a segment.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Which dispatch of the window each fence is.
    pub(super) dispatches: Vec<u32>,
    pub(super) fences: Vec<Fence>,
    pub(super) others: Vec<Fence>,
    pub(super) samples: Samples,
    /// The programming that must have counted it.
    pub(super) configuration: u64,
}

impl Segment {
    /// The sums of each dispatch, in the order of the group's events.
    ///
    /// # Errors
    /// [`CountersError::Discarded`] when samples and dispatches do not fit.
    pub(super) fn sums(&self) -> Result<Vec<(u32, Vec<u64>)>, CountersError> {
        let discarded = |why: String| CountersError::Discarded(why);
        if self.fences.is_empty() {
            return Ok(Vec::new());
        }
        if self.samples.lost > 0 {
            return Err(discarded(format!("the device had no room for {} samples", self.samples.lost)));
        }
        if self.samples.heads.iter().any(|head| head.configuration != self.configuration) {
            return Err(discarded("the samples are of another group of counters: its programming did not take".into()));
        }
        let intervals: Vec<Interval> = self
            .samples
            .heads
            .iter()
            .map(|head| Interval { start: head.start, end: head.end, active: head.busy > 0 })
            .collect();
        // Both are the device's own clock.
        let attributed = attribute_among(&intervals, &self.fences, &self.others, 0)?;
        let mut sums = Vec::with_capacity(attributed.len());
        for (dispatch, own) in self.dispatches.iter().zip(attributed) {
            let starts = intervals[own.clone()].windows(2).filter(|pair| !pair[0].active && pair[1].active).count();
            let stretches = starts + usize::from(intervals[own.start].active);
            if stretches != 1 {
                return Err(discarded(format!("something else ran within the fence of dispatch {dispatch}")));
            }
            let mut sum = vec![0_u64; self.samples.width];
            for at in own {
                sum.iter_mut().zip(self.samples.values(at)).for_each(|(sum, value)| *sum += value);
            }
            sums.push((*dispatch, sum));
        }
        Ok(sums)
    }
}
