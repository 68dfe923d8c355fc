//! Waiting for hardware that somebody else holds for a moment: a process that asks what may be counted holds it while it asks.

use super::patience::Patience;
use crate::counters::Guarded;
use crate::tables::{CuptiError, CuptiStatus};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long it is waited.
const WAIT: Duration = Duration::from_secs(1);
/// What passes between two calls.
const PAUSE: Duration = Duration::from_millis(5);

/// Calls again for a second while a device's hardware is busy for what is done. Who holds it for longer is another profiler, for which
/// nobody waits twice.
///
/// # Errors
/// Those of `call`.
pub(in crate::counters) fn while_busy<T>(
    device: i32,
    what: &'static str,
    call: impl FnMut() -> Result<T, CuptiError>,
) -> Result<T, CuptiError> {
    wait(&patience(device, what), WAIT, call)
}

/// What is known of a device, and of what is done there: that another one is free, or that this one may be asked for something that needs
/// no hardware, says nothing of it.
fn patience(device: i32, what: &'static str) -> Arc<Patience> {
    type Patiences = HashMap<(i32, &'static str), Arc<Patience>>;
    static KNOWN: Mutex<Option<Patiences>> = Mutex::new(None);
    Arc::clone(KNOWN.guarded().get_or_insert_default().entry((device, what)).or_default())
}

fn wait<T>(patience: &Patience, most: Duration, call: impl FnMut() -> Result<T, CuptiError>) -> Result<T, CuptiError> {
    let busy =
        |answer: &Result<T, CuptiError>| matches!(answer, Err(error) if error.status == CuptiStatus::HARDWARE_BUSY);
    patience.wait(Instant::now() + most, PAUSE, call, busy).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(busy: u32, then: Result<(), CuptiStatus>) -> impl FnMut() -> Result<(), CuptiError> {
        let mut left = busy;
        move || {
            let status = if left > 0 { Err(CuptiStatus::HARDWARE_BUSY) } else { then };
            left = left.saturating_sub(1);
            status.map_err(|status| CuptiError { call: "start", status })
        }
    }

    #[test]
    fn what_is_busy_for_a_moment_is_waited_for_and_other_failures_are_not() {
        let lasts = Patience::default();
        assert!(wait(&lasts, Duration::from_secs(60), answers(3, Ok(()))).is_ok());
        let mut calls = 0;
        let failed = wait(&lasts, Duration::from_secs(60), || {
            calls += 1;
            answers(0, Err(CuptiStatus::NOT_SUPPORTED))()
        });
        assert_eq!((failed.map_err(|error| error.status), calls), (Err(CuptiStatus::NOT_SUPPORTED), 1));
    }

    #[test]
    fn a_device_that_is_free_says_nothing_of_one_that_is_not() {
        let ask = |device, what, patience, busy| {
            let mut calls = 0;
            let found = wait(&super::patience(device, what), patience, || {
                calls += 1;
                if busy { answers(1, Ok(()))() } else { Ok(()) }
            });
            (found.is_ok(), calls)
        };
        let (found, waited) = ask(0, "start", Duration::from_millis(20), true);
        assert!(!found && waited > 1);
        let long = Duration::from_secs(60);
        assert_eq!((ask(1, "start", long, false), ask(0, "enable", long, false)), ((true, 1), (true, 1)));
        assert_eq!(ask(0, "start", long, true), (false, 1), "nobody waits twice");
    }

    #[test]
    fn what_stays_busy_is_waited_for_once_until_it_is_free_again() {
        let lasts = Patience::default();
        let mut calls = 0;
        let mut ask = |patience, busy| {
            calls = 0;
            let found = wait(&lasts, patience, || {
                calls += 1;
                if busy { answers(1, Ok(()))() } else { Ok(()) }
            });
            (found.is_ok(), calls)
        };
        let short = Duration::from_millis(20);
        let (found, waited) = ask(short, true);
        assert!(!found && waited > 1);
        assert_eq!(ask(Duration::from_secs(60), true), (false, 1), "nobody waits twice");
        assert_eq!(ask(short, false), (true, 1));
        assert!(ask(short, true).1 > 1, "it was free meanwhile");
    }
}
