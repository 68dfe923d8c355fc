//! The program's streams, so that a drain can ask each whether it is idle instead of waiting without a deadline.

use crate::tables::Stream;
use std::collections::BTreeSet;

/// Live streams of a context.
#[derive(Debug, Default)]
pub(super) struct Streams {
    live: BTreeSet<Stream>,
}

impl Streams {
    /// A stream was made.
    pub(super) fn born(&mut self, stream: Stream) {
        self.live.insert(stream);
    }

    /// A stream is about to go.
    pub(super) fn retire(&mut self, stream: Stream) {
        self.live.remove(&stream);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Stream> + '_ {
        self.live.iter().copied()
    }
}
