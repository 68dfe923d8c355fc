//! The host's clock and the device's.

use kreplay_engine::sampling::{Clock, Mismatch, Stamp};
use proptest::prelude::*;

/// A device whose clock runs `parts` per million faster, and that is asked at `host`.
fn stamp(host: u64, before: u64, after: u64, parts: f64) -> Stamp {
    Stamp { before: host - before, device: truth(host, parts), after: host + after }
}

fn truth(host: u64, parts: f64) -> u64 {
    5_000_000_000 + host + ((host as f64) * parts / 1e6).round() as u64
}

#[test]
fn the_same_clock_is_exact() {
    let clock = Clock::same();
    assert_eq!((clock.device(u64::MAX), clock.error(7)), (u64::MAX, 0));
    assert_eq!((clock.fence(3, 9).from, clock.fence(3, 9).to), (3, 9));
}

#[test]
fn drift_is_followed() {
    let parts = 40.0;
    let stamps = [1_000_000, 1_010_000, 2_000_000_000, 2_000_010_000].map(|host| stamp(host, 200, 200, parts));
    let clock = Clock::fit(&stamps).expect("fits");
    let host = 1_000_000_000;
    assert!(clock.device(host).abs_diff(truth(host, parts)) <= clock.error(host));
    assert!(clock.error(host) < 500, "{}", clock.error(host));
    // Beyond the stamps less is known.
    assert!(clock.error(4_000_000_000) > 2 * clock.error(host));
}

#[test]
fn an_interrupted_stamp_is_left_out() {
    let mut stamps = [1_000_000, 1_010_000, 900_000_000].map(|host| stamp(host, 100, 100, 0.0)).to_vec();
    stamps.push(stamp(500_000_000, 3_000_000, 10, 0.0));
    let clock = Clock::fit(&stamps).expect("fits");
    assert!(clock.error(500_000_000) < 300, "{}", clock.error(500_000_000));
}

#[test]
fn a_clock_that_was_set_is_refused() {
    let mut stamps: Vec<Stamp> = (1..5).map(|at| stamp(at * 100_000_000, 100, 100, 0.0)).collect();
    stamps.push(stamp(250_000_000, 3_000, 3_000, 0.0));
    stamps[4].device += 1_000_000;
    assert_eq!(Clock::fit(&stamps), Err(Mismatch::Clock));
}

#[test]
fn too_few_or_impossible_stamps_are_refused() {
    let good = stamp(1_000_000, 100, 100, 0.0);
    for stamps in [
        vec![],
        vec![good],
        vec![good, good],
        vec![good, Stamp { before: 9, device: 9, after: 8 }],
        // Backwards, and no nanoseconds.
        vec![good, Stamp { device: good.device - 5, ..stamp(2_000_000, 100, 100, 0.0) }],
        vec![good, Stamp { device: good.device + 31_250_000, ..stamp(1_001_000_000, 100, 100, 0.0) }],
    ] {
        assert_eq!(Clock::fit(&stamps), Err(Mismatch::Clock), "{stamps:?}");
    }
}

proptest! {
    /// The bound holds, within the stamps and beyond, whatever the drift and the delays.
    #[test]
    fn the_bound_holds(
        parts in -200.0f64..200.0,
        asked in proptest::collection::vec((1_000_000u64..3_000_000_000, 0u64..900, 0u64..900), 2..12),
        host in 1_000_000u64..6_000_000_000,
    ) {
        let stamps: Vec<Stamp> = asked.iter().map(|(host, b, a)| stamp(*host, *b, *a, parts)).collect();
        if let Ok(clock) = Clock::fit(&stamps) {
            let off = clock.device(host).abs_diff(truth(host, parts));
            prop_assert!(off <= clock.error(host) + 1, "{} > {}", off, clock.error(host));
        }
    }
}
