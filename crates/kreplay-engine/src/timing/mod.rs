//! Where a window's time goes.
//!
//! A window's phases follow each other on the host, so one stopwatch runs through them and every moment is counted once.
//! The device works asynchronously: what a step left running is counted where its answer is waited for. The sum of the
//! phases is the time that the window took from the program.

use std::time::{Duration, Instant};

/// Hands the time since its last lap to a phase.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start or the last lap belongs to `phase`.
    pub(crate) fn lap(&mut self, phase: &mut Duration) {
        let now = Instant::now();
        *phase += now - self.0;
        self.0 = now;
    }

    /// The time since the start or the last lap belongs to no phase.
    pub(crate) fn skip(&mut self) {
        self.0 = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_is_counted_once() {
        let begin = Instant::now();
        let mut watch = Stopwatch::start();
        let (mut a, mut b) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(2));
            watch.lap(&mut a);
            watch.lap(&mut b);
        }
        assert!(a >= Duration::from_millis(6) && a + b <= begin.elapsed());
    }
}
