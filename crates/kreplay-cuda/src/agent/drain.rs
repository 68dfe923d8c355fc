//! Waiting, with deadlines.

use super::whole::per_thread_used;
use super::{CudaAgent, locked};
use crate::tables::{CudaError, Progress, Stream};
use kreplay_engine::{AgentError, Range, Tier};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl CudaAgent {
    /// A stream of the program's was made.
    pub(crate) fn stream_born(&self, stream: Stream) {
        if stream != self.stream() {
            locked(&self.0.streams).born(stream);
        }
    }

    /// A stream of the program's is about to go.
    pub(crate) fn stream_retired(&self, stream: Stream) {
        locked(&self.0.streams).retire(stream);
    }

    pub(super) fn drain_until(&self, deadline: Instant) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        self.poll(deadline, "the program's work", || {
            // The lock is held while asking, so that no stream is destroyed meanwhile.
            let streams = locked(&self.0.streams);
            for stream in [self.stream(), Stream::LEGACY].into_iter().chain(streams.iter()) {
                if self.driver().stream_progress(stream)? == Progress::Running {
                    return Ok(Progress::Running);
                }
            }
            Ok(Progress::Done)
        })?;
        self.wait_for_writers(deadline)?;
        // What no stream of the list showed is waited for here: the driver's own work, which ends, and that of other threads'
        // default streams, which may wait for the host.
        if per_thread_used() {
            self.wait_whole(deadline)?;
        } else {
            self.driver().synchronise_context().map_err(|error| self.error(error))?;
        }
        locked(&self.0.marks).forget();
        Ok(())
    }

    /// Waits for the whole context, the default streams of other threads included.
    pub(super) fn wait_whole(&self, deadline: Instant) -> Result<(), AgentError> {
        self.0.whole.wait(&self.0.driver, self.context(), deadline, |error| self.error(error))
    }

    pub(super) fn settle_until(&self, deadline: Instant) -> Result<(), AgentError> {
        let _entered = self.enter()?;
        self.poll(deadline, "the passes", || self.driver().stream_progress(self.stream()))?;
        locked(&self.0.slots).settled();
        locked(&self.0.marks).forget();
        Ok(())
    }

    /// What memory of the program holds that nothing writes now.
    ///
    /// # Errors
    /// [`AgentError::Exhausted`] where the host has no room for it, [`AgentError::Deadline`], or the driver's.
    pub(crate) fn read(&self, range: Range, deadline: Instant) -> Result<Arc<Vec<u8>>, AgentError> {
        let _entered = self.enter()?;
        let mut content = Vec::new();
        let exhausted = |_| AgentError::Exhausted { tier: Tier::Host, bytes: range.bytes };
        content.try_reserve_exact(range.bytes as usize).map_err(exhausted)?;
        content.resize(range.bytes as usize, 0);
        let to = content.as_mut_ptr() as u64;
        self.driver().copy(to, range.base, range.bytes, self.stream()).map_err(|error| self.error(error))?;
        if let Err(error) = self.poll(deadline, "a copy", || self.driver().stream_progress(self.stream())) {
            // The device may still write to it.
            std::mem::forget(content);
            return Err(error);
        }
        Ok(Arc::new(content))
    }

    /// Asks again and again: without pause first, since most waits are short, then every 20 µs.
    pub(super) fn poll(
        &self,
        deadline: Instant,
        what: &'static str,
        mut ask: impl FnMut() -> Result<Progress, CudaError>,
    ) -> Result<(), AgentError> {
        let start = Instant::now();
        loop {
            if ask().map_err(|error| self.error(error))? == Progress::Done {
                return Ok(());
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(AgentError::Deadline { what });
            }
            if now - start > Duration::from_millis(2) {
                std::thread::sleep(Duration::from_micros(20));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
