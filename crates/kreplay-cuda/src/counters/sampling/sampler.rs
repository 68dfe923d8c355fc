//! The sampling hardware behind a small trait, so that everything above it runs without a GPU.

use crate::counters::planning::sample_group::SampleGroup;
use std::sync::Arc;

/// A device's sampling hardware. Used by one thread.
pub(super) trait Sampler: Send {
    /// Programs a group: the hardware then takes a sample each `interval` nanoseconds while it is started.
    fn program(&mut self, group: &Arc<SampleGroup>, interval: u64) -> Result<(), SamplerError>;

    /// Samples are taken from now on.
    fn start(&mut self) -> Result<(), SamplerError>;

    /// No samples are taken any more. Those that were can still be decoded.
    fn stop(&mut self) -> Result<(), SamplerError>;

    /// The clock that samples carry, in nanoseconds.
    fn now(&mut self) -> u64;

    /// Gives the hardware back.
    fn release(&mut self);

    /// An empty counter image for the programmed group, with room for this many samples.
    fn empty_image(&mut self, samples: u32) -> Result<Vec<u8>, SamplerError>;

    /// Moves the samples from the hardware's buffer to an empty image. Those that do not fit are lost.
    fn decode(&mut self, image: &mut [u8]) -> Result<Decoded, SamplerError>;
}

/// What a decoding found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    /// Begin and end of each sample in the image, device clock, in nanoseconds.
    pub(super) times: Vec<(u64, u64)>,
    /// The image is full: there may have been more, which are lost.
    pub(super) full: bool,
    /// The hardware's buffer was full, and samples are lost. It does not sample any more until it is programmed anew.
    pub(super) overflow: bool,
}

/// The values of samples; used by one thread, for images of one group.
pub(super) trait Values {
    /// The value of each term in the sample at `index` of an image.
    fn values(&self, image: &[u8], index: usize, into: &mut [f64]) -> Result<(), SamplerError>;
}

/// Makes [`Values`] on the thread that uses them.
pub(super) type MakeValues = Arc<dyn Fn(&Arc<SampleGroup>) -> Result<Box<dyn Values>, SamplerError> + Send + Sync>;

/// A call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {status}")]
pub(super) struct SamplerError {
    /// The function.
    pub(super) call: &'static str,
    /// What it returned, with its meaning.
    pub(super) status: String,
    /// Whether sampling cannot work on this device at all: no permission, in use by another profiler.
    pub(super) lasting: bool,
}
