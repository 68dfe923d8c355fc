//! Fenced sampling: which samples are which dispatch's.
//!
//! In a pass of [`crate::Way::Sampling`] the hardware streams intervals of counts of the whole device, and the counters
//! put an idle gap around each dispatch: of more than two intervals, or where it is known when samples end (a [`Beat`]), to the end
//! of the sample at least. Counters add up, so the sum over a dispatch's
//! intervals is its exact count, if it is known which intervals are its own. That is found here, from the intervals'
//! activity (a *marker* counter that every dispatch moves) and from the fences, with no vendor code and no device. What
//! does not fit is a [`Mismatch`]: the samples are then discarded, never guessed.
//!
//! [`attribute()`] goes by time, which fences and intervals tell by one clock, and checks the order by it; [`attribute_by_order`]
//! goes by order alone, where nothing but the dispatches ran.

mod attribute;
mod beat;
mod by_order;
mod fences;
mod mismatch;
mod runs;

pub use attribute::{attribute, attribute_among};
pub use beat::Beat;
pub use by_order::attribute_by_order;
pub use fences::{Fences, Ground};
pub use mismatch::Mismatch;

/// One sample: what was counted from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Device clock, in nanoseconds.
    pub start: u64,
    /// Device clock, in nanoseconds; later than `start`.
    pub end: u64,
    /// Whether the marker counter moved.
    pub active: bool,
}

/// When a dispatch can have run: from before it was submitted, the device being idle, until it was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Device clock, in nanoseconds.
    pub from: u64,
    /// Device clock, in nanoseconds.
    pub to: u64,
}
