//! Looks who comes to a GPU while all of it is counted.

use crate::counters::Guarded;
use crate::counters::beside::beside;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What passes between two looks: less than a process needs from its first context, which is seen, to its first kernel.
const EVERY: Duration = Duration::from_millis(50);

/// Tells who is there, if anybody is.
type Look = Box<dyn Fn() -> Option<&'static str> + Send + Sync>;

/// A watch, and its thread from the first time on that something is watched.
pub(in crate::counters) struct Watch(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    look: Look,
    every: Duration,
}

#[derive(Default)]
struct State {
    started: bool,
    /// Which time it is that something is watched; `None`: nothing is.
    watched: Option<u64>,
    times: u64,
    seen: Option<&'static str>,
    /// The thread looks now, with the state unlocked.
    looking: bool,
    over: bool,
}

impl Watch {
    /// A watch that looks by `look`.
    pub(in crate::counters) fn new(look: Look) -> Self {
        Self::every(EVERY, look)
    }

    fn every(every: Duration, look: Look) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), look, every }))
    }

    /// Watches from now on, which the caller has looked at. `false`: no thread can be had.
    pub(in crate::counters) fn begin(&self) -> bool {
        let mut state = self.0.state.guarded();
        if !state.started {
            let shared = Arc::clone(&self.0);
            state.started = beside("kreplay-watch", move || work(&shared));
        }
        if state.started {
            state.times += 1;
            (state.watched, state.seen) = (Some(state.times), None);
            self.0.changed.notify_all();
        }
        state.started
    }

    /// Watches no more; who was seen. A look that has begun is waited for.
    pub(in crate::counters) fn end(&self) -> Option<&'static str> {
        let mut state = self.0.state.guarded();
        state.watched = None;
        while state.looking {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.seen.take()
    }

    /// As [`Watch::end`], for nobody who wants to know, or may wait.
    pub(in crate::counters) fn leave(&self) {
        self.0.state.guarded().watched = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.state.guarded().over = true;
        self.0.changed.notify_all();
    }
}

fn work(shared: &Shared) {
    let mut state = shared.state.guarded();
    while !state.over {
        let Some(time) = state.watched.filter(|_| state.seen.is_none()) else {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let (next, waited) = shared.changed.wait_timeout(state, shared.every).unwrap_or_else(PoisonError::into_inner);
        state = next;
        if waited.timed_out() && state.watched == Some(time) {
            state.looking = true;
            drop(state);
            let seen = (shared.look)();
            state = shared.state.guarded();
            state.looking = false;
            if state.times == time {
                state.seen = seen;
            }
            shared.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn who_comes_while_it_is_watched_is_seen_and_nobody_before_or_after() {
        let (looked, looks) = channel();
        let there = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&there);
        let looked = Mutex::new(looked);
        let watch = Watch::every(
            Duration::from_millis(1),
            Box::new(move || {
                let there = seen.load(Ordering::SeqCst) > 0;
                // The test may be over.
                let _ = looked.guarded().send(());
                there.then_some("somebody")
            }),
        );
        assert!(watch.begin());
        (0..3).for_each(|_| looks.recv().expect("it looks again and again"));
        assert_eq!(watch.end(), None);
        while looks.try_recv().is_ok() {}
        there.store(1, Ordering::SeqCst);
        assert!(looks.recv_timeout(Duration::from_millis(30)).is_err(), "nothing is watched");
        assert!(watch.begin());
        looks.recv().expect("it looks");
        there.store(0, Ordering::SeqCst);
        assert_eq!(watch.end(), Some("somebody"), "who has gone again was there");
        there.store(1, Ordering::SeqCst);
        assert!(watch.begin());
        looks.recv().expect("it looks");
        there.store(0, Ordering::SeqCst);
        assert!(watch.begin());
        looks.recv().expect("it looks");
        assert_eq!(watch.end(), None, "that was another time");
    }
}
