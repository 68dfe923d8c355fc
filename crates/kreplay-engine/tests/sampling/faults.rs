//! What is to be noticed.

use crate::device::{Device, Ran};
use kreplay_engine::CountersError;
use kreplay_engine::sampling::{Fence, Interval, Mismatch, attribute, attribute_among, attribute_by_order};
use proptest::prelude::*;

fn three() -> Device {
    let mut device = Device::new(1_000);
    device.dispatch(4_000, 10_000, 0).dispatch(5_000, 20_000, 0).dispatch(6_000, 30_000, 0);
    device
}

#[test]
fn a_dispatch_without_activity() {
    let mut device = three();
    device.ran.remove(1);
    let samples = device.sample();
    assert_eq!(attribute(&samples.intervals, &device.fences, 100), Err(Mismatch::NoActivity { dispatch: 1 }));
    assert_eq!(attribute_by_order(&samples.intervals, 3), Err(Mismatch::Runs { expected: 3, found: 2 }));
}

#[test]
fn activity_that_runs_together() {
    let mut device = three();
    device.ran.push(Ran { start: device.ran[0].end, end: device.ran[1].start, count: 1_000, lag: 0 });
    let samples = device.sample();
    assert_eq!(attribute(&samples.intervals, &device.fences, 100), Err(Mismatch::Merged { first: 0 }));
    assert_eq!(attribute_by_order(&samples.intervals, 3), Err(Mismatch::Runs { expected: 3, found: 2 }));
}

#[test]
fn activity_that_leaves_its_fence() {
    let mut device = three();
    let end = device.ran[2].end;
    device.ran.push(Ran { start: end, end: end + 20_000, count: 1_000, lag: 0 });
    device.now += 20_000;
    let samples = device.sample();
    assert_eq!(attribute(&samples.intervals, &device.fences, 100), Err(Mismatch::Leaves { dispatch: 2 }));
}

#[test]
fn activity_that_nobody_submitted() {
    let mut device = three();
    device.other(3_000, false);
    let at = device.ran[3].start;
    let samples = device.sample();
    let found = attribute(&samples.intervals, &device.fences, 100);
    assert!(matches!(found, Err(Mismatch::Stray { at: found }) if found <= at && found + 1_000 > at), "{found:?}");
    // Told, it is nobody's.
    let told = [Fence { from: at, to: at + 3_000 }];
    assert!(attribute_among(&samples.intervals, &device.fences, &told, 100).is_ok());
}

#[test]
fn time_sees_what_order_cannot() {
    // Two ran together and a third one fell apart: the number is right and the attribution is not.
    let mut device = three();
    device.ran.push(Ran { start: device.ran[0].end, end: device.ran[1].start, count: 1_000, lag: 0 });
    let third = device.ran[2];
    device.ran[2] = Ran { end: third.start + 1_000, ..third };
    device.ran.push(Ran { start: third.start + 4_000, ..third });
    let samples = device.sample();
    assert!(attribute_by_order(&samples.intervals, 3).is_ok());
    assert_eq!(attribute(&samples.intervals, &device.fences, 100), Err(Mismatch::Merged { first: 0 }));
}

#[test]
fn a_clock_that_is_too_coarse() {
    // More stretches than dispatches, and any of them may be of either.
    let mut device = three();
    let second = device.ran[1];
    device.ran[1] = Ran { end: second.start + 1_000, ..second };
    device.ran.push(Ran { start: second.start + 4_000, ..second });
    let samples = device.sample();
    let found = attribute(&samples.intervals, &device.fences, 20_000);
    assert!(matches!(found, Err(Mismatch::Ambiguous { .. })), "{found:?}");
    assert!(attribute(&samples.intervals, &device.fences, 500).is_ok());
}

#[test]
fn samples_that_begin_late_or_end_early() {
    let device = three();
    let samples = device.sample().intervals;
    let late: Vec<Interval> = samples.iter().copied().filter(|i| i.start > device.fences[0].from + 2_000).collect();
    assert!(matches!(attribute(&late, &device.fences, 100), Err(Mismatch::Lost { .. })));
    let early: Vec<Interval> = samples.iter().copied().filter(|i| i.end + 2_000 < device.fences[2].to).collect();
    assert!(matches!(attribute(&early, &device.fences, 100), Err(Mismatch::Lost { .. })));
    assert!(matches!(attribute(&[], &device.fences, 100), Err(Mismatch::Lost { .. })));
}

#[test]
fn disorder() {
    let device = three();
    let mut samples = device.sample().intervals;
    samples.swap(3, 4);
    assert_eq!(attribute(&samples, &device.fences, 0), Err(Mismatch::Disorder { at: 4 }));
    assert_eq!(attribute_by_order(&samples, 3), Err(Mismatch::Disorder { at: 4 }));
    let samples = device.sample().intervals;
    let mut fences = device.fences.clone();
    fences.swap(0, 1);
    assert_eq!(attribute(&samples, &fences, 0), Err(Mismatch::Disorder { at: 1 }));
    let empty = [Interval { start: 5, end: 5, active: true }];
    assert_eq!(attribute_by_order(&empty, 1), Err(Mismatch::Disorder { at: 0 }));
}

#[test]
fn a_mismatch_discards_the_window() {
    let error = CountersError::from(Mismatch::Merged { first: 4 });
    assert_eq!(error.to_string(), "the activity of dispatches 4 and 5 runs together in the samples");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whichever sample between the first fence and the last is missing, it is noticed.
    #[test]
    fn a_lost_sample_is_noticed(kernels in proptest::collection::vec(1u64..30_000, 1..20), which in 0.0f64..1.0) {
        let mut device = Device::new(1_000);
        for length in &kernels {
            device.dispatch(*length, 1_000_000, 0);
        }
        let mut samples = device.sample().intervals;
        let (from, to) = (device.fences[0].from, device.fences[kernels.len() - 1].to);
        let first = samples.iter().position(|sample| sample.end > from).unwrap();
        let last = samples.iter().rposition(|sample| sample.start < to).unwrap();
        let lost = first + ((last - first) as f64 * which) as usize;
        samples.remove(lost);
        let found = attribute(&samples, &device.fences, 0);
        prop_assert!(matches!(found, Err(Mismatch::Lost { .. })), "{:?}", found);
    }

    /// A fence that is missing, or one too many, is noticed.
    #[test]
    fn a_wrong_number_is_noticed(count in 2usize..20, which in 0usize..20, more in any::<bool>()) {
        let mut device = Device::new(1_000);
        for _ in 0..count {
            device.dispatch(3_000, 9_000, 100);
        }
        let samples = device.sample().intervals;
        let which = which % count;
        let wrong = if more { count + 1 } else { count - 1 };
        prop_assert_eq!(
            attribute_by_order(&samples, wrong),
            Err(Mismatch::Runs { expected: wrong, found: count })
        );
        let mut fences = device.fences.clone();
        if more {
            let idle = fences[which].to + 1_500;
            fences.insert(which + 1, Fence { from: idle, to: idle + 200 });
            prop_assert_eq!(attribute(&samples, &fences, 100), Err(Mismatch::NoActivity { dispatch: which + 1 }));
        } else {
            fences.remove(which);
            let found = attribute(&samples, &fences, 100);
            prop_assert!(matches!(found, Err(Mismatch::Stray { .. })), "{:?}", found);
        }
    }
}
