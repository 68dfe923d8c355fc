//! Whether the dynamic loader is free. Its lock is held by a thread that opens or closes a library while the library's own begins and
//! ends run: from there nothing may wait for a thread that is new, or that needs the loader for the first time.

use crate::thread;
use kreplay_engine::{Agent, Engine};
use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the loader may be busy before it counts as held by whoever asks.
const PATIENCE: Duration = Duration::from_secs(1);

/// … where it was busy that long already: once it is free the thread that asked has still to answer.
const AGAIN: Duration = Duration::from_millis(2);

/// The answer that somebody waited for in vain.
type Outstanding = Mutex<Option<Receiver<()>>>;

/// Whether threads can start and use the loader now; waits a second at most, once until it is free again. `false` from within the
/// begin or the end of a library that is being opened or closed: what would wait for such a thread there would wait for ever. Costs
/// a thread.
pub fn loader_is_free() -> bool {
    thread_local! {
        /// Its destructor has to be registered, for which the C library takes the loader's lock.
        static DESTROYED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    static OUTSTANDING: Outstanding = Mutex::new(None);
    answers(&OUTSTANDING, (PATIENCE, AGAIN), |tell| {
        let asks = move || {
            DESTROYED.with_borrow_mut(|bytes| bytes.push(1));
            // Nobody listens any more when it took too long.
            let _ = tell.send(());
        };
        thread::start("kreplay-loader", Box::new(asks))
    })
}

/// Whether what `ask` starts answers in time. It is not started again while another answer is outstanding, which is waited for `again`.
fn answers(
    outstanding: &Outstanding,
    (patience, again): (Duration, Duration),
    ask: impl FnOnce(Sender<()>) -> bool,
) -> bool {
    let last = |told: &Receiver<()>| told.recv_timeout(again) == Err(RecvTimeoutError::Timeout);
    if lock(outstanding).as_ref().is_some_and(last) {
        return false;
    }
    let (tell, told) = mpsc::channel();
    if !ask(tell) {
        return false;
    }
    let free = told.recv_timeout(patience).is_ok();
    *lock(outstanding) = (!free).then_some(told);
    free
}

fn lock(outstanding: &Outstanding) -> MutexGuard<'_, Option<Receiver<()>>> {
    outstanding.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What ends windows may be called as a library is closed, with the loader held, and a replay may need threads that start: what an
/// engine has recorded is given up then. `free` is [`loader_is_free`].
pub fn spare_the_loader<A: Agent>(engine: &Engine<A>, free: fn() -> bool) {
    if engine.is_recording() && !free() {
        engine.give_up_recording("something it uses went with the library that held it");
    }
}

#[cfg(test)]
mod tests {
    use super::{Outstanding, answers, loader_is_free};
    use std::sync::mpsc::Sender;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(1);
    const LONG: Duration = Duration::from_secs(600);

    /// Somebody has asked, and gave up before the answer, which the sender is for.
    fn waited_in_vain() -> (Outstanding, Sender<()>) {
        let (outstanding, mut held) = (Outstanding::default(), None);
        assert!(!answers(&outstanding, (SHORT, LONG), |tell| {
            held = Some(tell);
            true
        }));
        (outstanding, held.expect("it was asked"))
    }

    /// While a library is closed it is not: the end-to-end suite `leaving` has such a program. Where a thread takes longer to
    /// start than the patience lasts, one of the next looks finds it.
    #[test]
    fn it_is_free_when_no_library_is_loaded_or_closed() {
        assert!((0..30).any(|_| loader_is_free()));
    }

    #[test]
    fn who_waited_in_vain_does_not_wait_again_before_the_answer_has_come() {
        let (outstanding, held) = waited_in_vain();
        assert!(!answers(&outstanding, (LONG, SHORT), |_| panic!("one thread waits already")));
        held.send(()).expect("the answer is waited for");
        assert!(answers(&outstanding, (LONG, SHORT), |tell| tell.send(()).is_ok()));
        assert!(!answers(&outstanding, (SHORT, LONG), |_| false), "no thread can be had");
    }

    #[test]
    fn an_answer_that_comes_as_the_loader_is_let_go_is_not_missed() {
        let (outstanding, held) = waited_in_vain();
        let answers_late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            held.send(())
        });
        assert!(answers(&outstanding, (LONG, LONG), |tell| tell.send(()).is_ok()));
        answers_late.join().expect("it ends").expect("the answer was waited for");
    }
}
