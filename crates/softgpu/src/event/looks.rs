//! What each thread has seen of an event.
//!
//! A thread looks at what an event stands for (the value of a signal) and then waits for the event. A raise that falls in between has
//! to reach it, though another thread that waits for the same event takes it first: ROCr has one event for the errors of all
//! queues, and both its own thread and one that destroys a queue wait for that. Runtimes that know the ages of events tell which
//! one they have seen; of the others it is kept here.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most threads that are remembered. One that was forgotten wakes once for nothing.
const MOST: usize = 64;

/// What threads have seen of one event.
#[derive(Debug)]
pub(super) struct Looks {
    /// The age that is news to nobody.
    first: u64,
    /// The age that each thread has seen.
    seen: BTreeMap<u64, u64>,
}

impl Looks {
    /// Nobody has looked, and nothing has happened since this age.
    pub(super) fn new(age: u64) -> Self {
        Self { first: age, seen: BTreeMap::new() }
    }

    /// Whether this thread has still to see this age.
    pub(super) fn is_news(&self, age: u64) -> bool {
        *self.seen.get(&number()).unwrap_or(&self.first) != age
    }

    /// This thread sees this age.
    pub(super) fn saw(&mut self, age: u64) {
        let thread = number();
        if self.seen.len() >= MOST && !self.seen.contains_key(&thread) {
            self.seen.clear();
        }
        self.seen.insert(thread, age);
    }
}

/// This thread's number, never another thread's.
fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        // Needs no destructor, for which the loader would be needed.
        static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
    }
    let number = NUMBER.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.set(Some(number));
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_seen_what_it_looked_at() {
        let mut looks = Looks::new(1);
        assert!(!looks.is_news(1) && looks.is_news(2));
        looks.saw(2);
        assert!(!looks.is_news(2) && looks.is_news(3));
        std::thread::scope(|scope| assert!(scope.spawn(|| looks.is_news(2)).join().unwrap()));
    }

    #[test]
    fn who_is_forgotten_is_told_again() {
        let mut looks = Looks::new(1);
        looks.saw(2);
        for _ in 0..MOST {
            std::thread::scope(|scope| scope.spawn(|| looks.saw(2)).join().unwrap());
        }
        assert!(looks.is_news(2) && looks.seen.len() <= MOST);
    }
}
