//! Work of other contexts that may write memory of this one's. A window would undo what they write within it, so it begins when they are
//! done. An event behind each tells: their streams may have more to do, which is nobody's to wait for.

use super::guard::Depth;
use super::{CudaAgent, locked};
use crate::tables::{Context, Driver, Event, Progress, Stream};
use kreplay_engine::AgentError;
use std::time::Instant;

/// What may still be written.
#[derive(Debug, Default)]
pub(super) struct Writers(Vec<Writer>);

#[derive(Debug)]
struct Writer {
    context: Context,
    stream: Stream,
    event: Event,
}

impl Writer {
    /// One whose context has a fault does nothing any more.
    fn is_over(&self, driver: &Driver) -> bool {
        !matches!(driver.event_progress(self.event), Ok(Progress::Running))
    }
}

impl CudaAgent {
    /// Something was submitted to a stream of this thread's context, which is another one, that may write this one's memory.
    pub(crate) fn written_from(&self, context: Context, stream: Stream) {
        let _depth = Depth::enter();
        let driver = self.driver();
        let writers = &mut locked(&self.0.writers).0;
        // What comes later in a stream stands for what came before. Streams of several threads have the one name.
        let later = |one: &Writer| one.context == context && one.stream == stream && stream != Stream::PER_THREAD;
        let over = |one: &Writer| one.context == context && one.is_over(driver);
        let known = writers.iter().position(later).or_else(|| writers.iter().position(over));
        if let Some(at) = known {
            // A stream of this agent's own context is refused here, and waited for in any case.
            if driver.record_event(writers[at].event, stream).is_ok() {
                writers[at].stream = stream;
            }
        } else if let Ok(event) = driver.create_event(false) {
            if driver.record_event(event, stream).is_ok() {
                writers.push(Writer { context, stream, event });
            } else {
                let _ = driver.destroy_event(event);
            }
        }
    }

    /// A context is about to go, and its events with it.
    pub(crate) fn forget_writer(&self, context: Context) {
        locked(&self.0.writers).0.retain(|one| one.context != context);
    }

    /// This agent's context is about to go.
    pub(super) fn forget_writers(&self) {
        for writer in locked(&self.0.writers).0.drain(..) {
            // It is another context's, which frees it at the latest.
            let _ = self.driver().destroy_event(writer.event);
        }
    }

    /// Waits until all of them are done.
    pub(super) fn wait_for_writers(&self, deadline: Instant) -> Result<(), AgentError> {
        self.poll(deadline, "what other contexts write here", || {
            // The lock is held while asking, so that no context is destroyed meanwhile.
            let writers = locked(&self.0.writers);
            let over = writers.0.iter().all(|one| one.is_over(self.driver()));
            Ok(if over { Progress::Done } else { Progress::Running })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fake_agent, soon};
    use super::*;
    use crate::fake;
    use kreplay_engine::Agent;
    use std::ffi::c_void;
    use std::time::Duration;

    #[test]
    fn a_drain_waits_for_what_others_write_and_for_nothing_behind_it() {
        let agent = fake_agent();
        let (other, stream) = (Context(0xB10 as *mut c_void), Stream(0x57_1000 as *mut c_void));
        let brief = || Instant::now() + Duration::from_millis(20);
        fake::set_busy(stream.raw(), true);
        agent.written_from(other, stream);
        let error = agent.drain(brief()).expect_err("it is not done");
        assert!(matches!(error, AgentError::Deadline { .. }), "{error:?}");
        fake::set_busy(stream.raw(), false);
        agent.drain(soon()).expect("it is");
        fake::set_busy(stream.raw(), true);
        agent.drain(soon()).expect("what came later is not looked at");
        fake::set_busy(stream.raw(), false);
    }

    #[test]
    fn events_are_used_again_and_go_with_their_contexts() {
        let agent = fake_agent();
        let (other, stream) = (Context(0xB20 as *mut c_void), Stream(0x57_2000 as *mut c_void));
        let known = || locked(&agent.0.writers).0.len();
        fake::set_busy(stream.raw(), true);
        (0..3).for_each(|_| agent.written_from(other, stream));
        assert_eq!(known(), 1, "the last one stands for all");
        (0..3).for_each(|_| agent.written_from(other, Stream::PER_THREAD));
        assert_eq!(known(), 2, "those that are over");
        // The stream is one of this context's own.
        fake::script("cuEventRecord", &[400]);
        agent.written_from(Context(0xB30 as *mut c_void), stream);
        assert_eq!(known(), 2);
        agent.forget_writer(other);
        assert_eq!(known(), 0);
        agent.drain(soon()).expect("nobody is waited for");
        fake::set_busy(stream.raw(), false);
    }
}
