//! What counters need of the agent: waiting for a pass, timing it, and a cache that is cold.

use super::CudaAgent;
use crate::tables::{Event, Progress, Stream};
use kreplay_engine::AgentError;
use std::sync::atomic::Ordering;
use std::time::Instant;

thread_local! {
    /// The stream of the launch that this thread makes.
    static LAUNCHING: std::cell::Cell<Stream> = const { std::cell::Cell::new(Stream(std::ptr::null_mut())) };
}

/// This thread is about to launch on a stream of the program's.
pub(crate) fn launching_on(stream: Stream) {
    LAUNCHING.set(stream);
}

impl CudaAgent {
    /// Records an event on the stream that this thread launches on.
    pub(crate) fn mark_launch(&self, event: Event) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        self.driver().record_event(event, LAUNCHING.get()).map_err(|error| self.error(error))
    }

    /// The pass that follows runs on a stream of the program's; `None`: on the agent's own again.
    pub(crate) fn set_pass_stream(&self, stream: Option<Stream>) {
        self.0.pass_stream.store(stream.map_or(0, Stream::raw), Ordering::Relaxed);
    }

    fn pass_stream(&self) -> Stream {
        match self.0.pass_stream.load(Ordering::Relaxed) {
            0 => self.stream(),
            raw => Stream(raw as *mut std::ffi::c_void),
        }
    }

    /// Waits for the agent's stream, and with `program` for the stream that the pass runs on.
    pub(crate) fn wait_pass(&self, deadline: Instant, what: &'static str, program: bool) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let mut streams = vec![self.stream()];
        if program && self.pass_stream() != self.stream() {
            streams.push(self.pass_stream());
        }
        self.poll(deadline, what, || {
            for stream in &streams {
                if self.driver().stream_progress(*stream)? == Progress::Running {
                    return Ok(Progress::Running);
                }
            }
            Ok(Progress::Done)
        })
    }

    /// Waits for the agent's stream and every one of the program's that is known, without a call that has no deadline.
    pub(crate) fn wait_every_stream(&self, deadline: Instant, what: &'static str) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        self.poll(deadline, what, || {
            // The lock is held while asking, so that no stream is destroyed meanwhile.
            let streams = super::locked(&self.0.streams);
            for stream in [self.stream(), Stream::LEGACY, Stream::PER_THREAD].into_iter().chain(streams.iter()) {
                if self.driver().stream_progress(stream)? == Progress::Running {
                    return Ok(Progress::Running);
                }
            }
            Ok(Progress::Done)
        })
    }

    /// Two events that can be read.
    pub(crate) fn timing_events(&self) -> Result<(Event, Event), AgentError> {
        let _entered = self.enter()?;
        let event = || self.driver().create_event(true).map_err(|error| self.error(error));
        Ok((event()?, event()?))
    }

    /// Records an event on the agent's stream, or with `program` on the one that the pass runs on.
    pub(crate) fn mark_pass(&self, event: Event, program: bool) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let stream = if program { self.pass_stream() } else { self.stream() };
        self.driver().record_event(event, stream).map_err(|error| self.error(error))
    }

    /// Milliseconds between two events that have come.
    pub(crate) fn elapsed(&self, start: Event, end: Event) -> Result<f32, AgentError> {
        let _entered = self.enter()?;
        self.driver().elapsed(start, end).map_err(|error| self.error(error))
    }

    /// Fills the second-level cache with data of ours: a write of twice its size.
    pub(crate) fn flush_cache(&self) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        let bytes = (self.l2_bytes() * 2).max(1 << 20);
        let mut filler = super::locked(&self.0.filler);
        if *filler == 0 {
            *filler = self.driver().allocate(bytes as usize).map_err(|error| self.error(error))?;
        }
        self.driver().set_words(*filler, 0x5a5a_5a5a, bytes / 4, self.stream()).map_err(|error| self.error(error))
    }
}
