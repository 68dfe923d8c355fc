//! A thread that decodes, so that the next window does not wait.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

/// A piece of work.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The thread, begun when the first work comes. Work is done in order. Dropping this does not wait: the thread does
/// what is left, and ends.
#[derive(Debug, Default)]
pub(super) struct Worker {
    thread: Mutex<Option<Sender<Job>>>,
}

impl Worker {
    /// Does the work later; at once where no thread can be had.
    pub(super) fn submit(&self, job: Job) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            *thread = spawn();
        }
        let refused = match thread.as_ref() {
            Some(sender) => sender.send(job).err().map(|refused| refused.0),
            None => Some(job),
        };
        if let Some(job) = refused {
            *thread = None;
            drop(thread);
            job();
        }
    }

    /// Waits until everything submitted before has been done.
    pub(super) fn flush(&self) {
        let (done, wait) = channel::<()>();
        self.submit(Box::new(move || drop(done)));
        // It ends when the job drops its end, run or not.
        let _ = wait.recv();
    }
}

fn spawn() -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let work = move || {
        for job in jobs {
            // A panic in one delivery must not take the others with it; it was reported by the panic hook.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    };
    crate::thread::start("kreplay-counters", Box::new(work)).then_some(sender)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn work_is_done_in_order_and_a_panic_takes_nothing_with_it() {
        let worker = Worker::default();
        let seen = Arc::new(Mutex::new(Vec::new()));
        for number in 0..100 {
            let seen = Arc::clone(&seen);
            worker.submit(Box::new(move || {
                seen.lock().expect("lock").push(number);
                assert_ne!(number, usize::MAX, "never");
            }));
            if number == 50 {
                worker.submit(Box::new(|| std::panic::resume_unwind(Box::new("a job that fails"))));
            }
        }
        worker.flush();
        assert_eq!(*seen.lock().expect("lock"), (0..100).collect::<Vec<_>>());
    }
}
