//! The samples of a segment while its images are read, in whatever order.

use super::segment::Samples;
use crate::counters::Guarded;
use crate::counters::gather::Part;
use crate::counters::planning::sample_group::SampleGroup;
use kreplay_engine::{CountersError, Delivery};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Most bytes of samples that are kept of a window without fences, which may last for hours: of kernels before that nothing is told
/// but their time. Two minutes of many counters at least, far more of few.
pub(super) const MOST_KEPT: usize = 512 << 20;

/// The samples of one image.
pub(super) struct Taken {
    pub(super) times: Vec<(u64, u64)>,
    pub(super) values: Vec<f64>,
}

impl Taken {
    fn bytes(&self) -> usize {
        size_of_val(&*self.times) + size_of_val(&*self.values)
    }

    /// Samples until `end` were decoded before. The stamps of two decodings differ by a tick or so (36 ns on an H200), and samples
    /// seem to overlap.
    fn follow(&mut self, end: u64) {
        let Some((from, to)) = self.times.first_mut() else { return };
        let overlap = end.saturating_sub(*from);
        if overlap < to.saturating_sub(*from) / 2 {
            *from += overlap;
        }
    }
}

/// Why a segment has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// There was no room for all its samples, or they were not decoded in time: it may well go better the next time.
    Room,
    /// Samples and dispatches do not fit, or the hardware failed.
    Misfit,
}

/// What is lost, and the error that says so.
pub(super) type Loss = (Lost, CountersError);

/// Told of the end of a segment, and what is lost of it.
pub(super) type Ended = Box<dyn FnOnce(Option<(Lost, &CountersError)>) + Send>;

/// Turns the samples of a segment into readings.
pub(super) type Work = Box<dyn FnOnce(&Samples) -> Result<Delivery, Loss> + Send>;

/// What a segment ends with.
pub(super) struct Closing {
    pub(super) work: Work,
    pub(super) part: Part,
    /// Told why it lacks values, if so.
    pub(super) ended: Ended,
}

/// See the module.
pub(super) struct Collected {
    group: Arc<SampleGroup>,
    /// Most bytes of samples to keep: the newest.
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    images: BTreeMap<u32, Taken>,
    /// How many bytes these are.
    bytes: usize,
    /// Images that were read, well or not.
    read: u32,
    failed: Option<Loss>,
    /// Which image is the first that samples are missing before, and why.
    lacks: Option<(u32, &'static str)>,
    /// How many images there are in all, once that is known, and what to do then.
    closing: Option<(u32, Closing)>,
}

impl Collected {
    /// For a segment of a group, of which no more than the last so many bytes are needed.
    pub(super) fn new(group: Arc<SampleGroup>, most: usize) -> Arc<Self> {
        Arc::new(Self { group, most, state: Mutex::default() })
    }

    /// The group.
    pub(super) fn group(&self) -> &Arc<SampleGroup> {
        &self.group
    }

    /// The image at `place` was read.
    pub(super) fn take(&self, place: u32, taken: Result<Taken, CountersError>) {
        let mut state = self.state.guarded();
        state.read += 1;
        match taken {
            Ok(taken) => {
                state.bytes += taken.bytes();
                state.images.insert(place, taken);
                while state.bytes > self.most
                    && let Some((_, oldest)) = state.images.pop_first()
                {
                    state.bytes -= oldest.bytes();
                }
            }
            Err(error) => {
                state.failed.get_or_insert((Lost::Misfit, error));
            }
        }
        drop(state);
        self.finish();
    }

    /// Samples are lost before the image at `place`, or behind all that there are. What comes behind is of no use.
    pub(super) fn lack(&self, place: u32, why: &'static str) {
        self.state.guarded().lacks.get_or_insert((place, why));
    }

    /// Decoding failed.
    pub(super) fn fail(&self, lost: Lost, error: CountersError) {
        self.state.guarded().failed.get_or_insert((lost, error));
    }

    /// The segment ended, and holds this many images. Without a closing nobody wants them.
    pub(super) fn close(&self, images: u32, closing: Option<Closing>) {
        let Some(closing) = closing else { return };
        self.state.guarded().closing = Some((images, closing));
        self.finish();
    }

    fn finish(&self) {
        let mut state = self.state.guarded();
        let read = state.read;
        let Some((_, closing)) = state.closing.take_if(|(images, _)| *images == read) else { return };
        let failed = state.failed.take();
        let (images, lacks) = (std::mem::take(&mut state.images), state.lacks);
        drop(state);
        let result = match failed {
            Some(failed) => Err(failed),
            None => (closing.work)(&joined(images, lacks)),
        };
        let lost = match &result {
            Ok(delivery) => delivery.lost.first().map(|lost| (Lost::Room, &lost.why)),
            Err((lost, why)) => Some((*lost, why)),
        };
        (closing.ended)(lost);
        match result {
            Ok(delivery) => closing.part.deliver(delivery),
            Err((_, why)) => closing.part.finish(Err(why)),
        }
    }
}

/// The samples of the images in their order, to where some are missing.
fn joined(mut images: BTreeMap<u32, Taken>, lacks: Option<(u32, &'static str)>) -> Samples {
    let mut samples = Samples::default();
    if let Some((place, why)) = lacks {
        images.split_off(&place);
        samples.lack = Some(why);
    }
    for mut taken in images.into_values() {
        if let Some((_, end)) = samples.times.last() {
            samples.cuts.push(*end);
            taken.follow(*end);
        }
        samples.times.extend(taken.times);
        samples.values.extend(taken.values);
    }
    samples
}
