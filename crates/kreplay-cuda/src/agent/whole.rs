//! Waiting for a whole context with a deadline. The driver has no question whether the per-thread default streams of other threads
//! are idle, only a call that waits for everything, for ever where a kernel waits for the host. So a thread of ours makes it.
//!
//! An event on the legacy stream, which waits for those streams, would tell too; but what the program launches behind it would wait
//! for it, and so for a kernel that waits for just that.

use super::guard::{Current, Depth};
use super::locked;
use crate::tables::{Context, CudaError, Driver};
use crate::thread;
use kreplay_engine::AgentError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// Whether a thread of the process has used its per-thread default stream.
static PER_THREAD_USED: AtomicBool = AtomicBool::new(false);

/// Work goes to the default stream of this thread.
pub(crate) fn note_per_thread() {
    if !PER_THREAD_USED.load(Ordering::Relaxed) {
        PER_THREAD_USED.store(true, Ordering::SeqCst);
    }
}

/// Whether that ever happened.
pub(crate) fn per_thread_used() -> bool {
    PER_THREAD_USED.load(Ordering::Relaxed)
}

/// As if it had never happened.
#[cfg(test)]
pub(crate) fn forget_per_thread() {
    PER_THREAD_USED.store(false, Ordering::SeqCst);
}

/// A context's thread that waits for it; started at the first wait.
#[derive(Debug, Default)]
pub(super) struct Whole(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    started: bool,
    /// Waits that were asked for, and those of them that are over, with what the last one's end was.
    asked: u64,
    over: u64,
    failed: Option<CudaError>,
    gone: bool,
}

impl Whole {
    /// Waits until everything that was submitted to the context is done.
    ///
    /// # Errors
    /// What of the agent's the driver's error is by `error`; [`AgentError::Deadline`]; that there is no thread to be had.
    pub(super) fn wait(
        &self,
        driver: &Arc<Driver>,
        context: Context,
        deadline: Instant,
        error: impl FnOnce(CudaError) -> AgentError,
    ) -> Result<(), AgentError> {
        let mut state = locked(&self.0.state);
        if !state.started {
            let (shared, driver) = (Arc::clone(&self.0), Arc::clone(driver));
            let ours = move || {
                let _depth = Depth::enter();
                work(&shared, &driver, context);
            };
            state.started = thread::start("kreplay-drain", Box::new(ours));
        }
        if !state.started {
            let status = "no thread can be had that waits for the threads' default streams".into();
            return Err(AgentError::Failed { call: "drain", status });
        }
        state.asked += 1;
        let asked = state.asked;
        self.0.changed.notify_all();
        while state.over < asked {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(AgentError::Deadline { what: "the work of other threads' default streams" });
            }
            state = self.0.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.failed.clone().map_or(Ok(()), |failed| Err(error(failed)))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        locked(&self.0.state).gone = true;
        self.0.changed.notify_all();
    }
}

fn work(shared: &Shared, driver: &Driver, context: Context) {
    let mut state = locked(&shared.state);
    while !state.gone {
        if state.over == state.asked {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        // What is submitted from now on may not be waited for, so whoever asks from now on asks anew.
        let asked = state.asked;
        drop(state);
        let waited = Current::enter(driver, context).and_then(|_current| driver.synchronise_context());
        state = locked(&shared.state);
        (state.over, state.failed) = (asked, waited.err());
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fake_agent, soon};
    use super::*;
    use crate::fake;
    use kreplay_engine::Agent;
    use std::time::Duration;

    #[test]
    fn a_drain_gives_up_in_time_where_another_threads_default_stream_is_busy() {
        let agent = fake_agent();
        note_per_thread();
        agent.drain(soon()).expect("idle");
        fake::set_busy_unseen(true);
        for _ in 0..2 {
            let error = agent.drain(Instant::now() + Duration::from_millis(20)).expect_err("it is busy");
            assert!(matches!(error, AgentError::Deadline { .. }), "{error:?}");
        }
        fake::set_busy_unseen(false);
        agent.drain(soon()).expect("idle");
    }

    #[test]
    fn no_thread_is_asked_where_nobody_used_a_default_stream_of_his_own() {
        let agent = fake_agent();
        fake::take_calls();
        agent.drain(soon()).expect("idle");
        assert_eq!(fake::take_calls().get("cuCtxSynchronize"), Some(&1), "by this thread");
        note_per_thread();
        agent.drain(soon()).expect("idle");
        assert_eq!(fake::take_calls().get("cuCtxSynchronize"), None);
    }

    #[test]
    fn a_fault_that_the_thread_meets_is_the_agents() {
        let agent = fake_agent();
        note_per_thread();
        fake::break_context(719);
        let error = agent.drain(soon()).expect_err("the context is lost");
        assert!(matches!(error, AgentError::Lost(_)), "{error:?}");
        fake::break_context(0);
    }
}
