//! Why samples cannot be attributed.

use crate::CountersError;

/// The samples do not fit the dispatches. All of them are discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Nothing ran within a dispatch's fence.
    #[error("dispatch {dispatch} left no activity in the samples")]
    NoActivity {
        /// Its index in the window.
        dispatch: usize,
    },
    /// One stretch of activity reaches from one fence into the next: the idle gap between them is missing.
    #[error("the activity of dispatches {first} and {last} runs together in the samples", last = first + 1)]
    Merged {
        /// The first of the two.
        first: usize,
    },
    /// One stretch of activity begins or ends outside of a dispatch's fence: something ran beside it.
    #[error("activity reaches beyond the fence of dispatch {dispatch}")]
    Leaves {
        /// Its index in the window.
        dispatch: usize,
    },
    /// Something ran outside of every fence that nobody said was submitted.
    #[error("something else ran on the device at {at} ns of its clock")]
    Stray {
        /// When it began, device clock, in nanoseconds.
        at: u64,
    },
    /// There are more or fewer stretches of activity than dispatches.
    #[error("the samples show {found} stretches of activity for {expected} dispatches")]
    Runs {
        /// Dispatches.
        expected: usize,
        /// Stretches of activity.
        found: usize,
    },
    /// Samples are missing.
    #[error("samples are missing from {from} to {to} ns of the device's clock")]
    Lost {
        /// Where the hole begins, device clock, in nanoseconds.
        from: u64,
        /// Where it ends.
        to: u64,
    },
    /// Intervals or fences are not in order, are empty, or overlap.
    #[error("samples or fences are not in order at {at}")]
    Disorder {
        /// The index of the first that is not.
        at: usize,
    },
    /// The clock is too coarse to tell in which of two fences something ran.
    #[error("the clocks are not known well enough to tell dispatch {dispatch} from its neighbour")]
    Ambiguous {
        /// The first dispatch that it may be.
        dispatch: usize,
    },
    /// Two clocks could not be brought together.
    #[error("the device's clock cannot be related to the host's")]
    Clock,
}

impl From<Mismatch> for CountersError {
    fn from(mismatch: Mismatch) -> Self {
        CountersError::Discarded(mismatch.to_string())
    }
}
