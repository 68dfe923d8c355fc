//! What is to come out right.

use crate::device::Device;
use kreplay_engine::sampling::{Beat, Fence, attribute, attribute_among, attribute_by_order};
use proptest::prelude::*;

fn check(device: &Device, lengths: &[(u64, u64)], tolerance: u64) {
    let samples = device.sample();
    let by_time = attribute_among(&samples.intervals, &device.fences, &device.others, tolerance).expect("fits");
    assert_eq!(by_time.len(), lengths.len());
    for (range, (_, count)) in by_time.iter().zip(lengths) {
        assert_eq!(samples.sums(range), (*count, count * 3));
    }
    assert!(by_time.windows(2).all(|pair| pair[0].end <= pair[1].start), "{by_time:?}");
    if device.others.is_empty() {
        assert_eq!(attribute_by_order(&samples.intervals, lengths.len()).expect("fits"), by_time);
    }
}

#[test]
fn tiny_and_long_kernels_side_by_side() {
    let kernels = [(1_000, 2_000_000), (1_000_000_000, 5_000_000_000), (900, 1_000_000), (4_000, 3_000_000)];
    let mut device = Device::new(2_000);
    for (length, count) in kernels {
        device.dispatch(length, count, 700);
    }
    check(&device, &kernels, 300);
}

#[test]
fn duplicates_back_to_back_are_told_apart() {
    let kernels = [(4_000, 130_240); 1000];
    let mut device = Device::new(1_000);
    for (length, count) in kernels {
        device.dispatch(length, count, 0);
    }
    check(&device, &kernels, 100);
}

#[test]
fn a_long_pause_between_two_kernels_adds_nothing_idle() {
    let mut device = Device::new(1_000);
    device.dispatch(4_000, 10_000, 0);
    device.now += 1_000_000;
    device.dispatch(4_000, 10_000, 0);
    let samples = device.sample();
    let ranges = attribute(&samples.intervals, &device.fences, 0).expect("fits");
    assert!(ranges.iter().all(|range| range.len() <= 5 + 16), "{ranges:?}");
}

#[test]
fn a_kernel_may_pause() {
    let mut device = Device::new(1_000);
    device.dispatch(4_000, 10_000, 0).dispatch(4_000, 20_000, 0);
    // The first fence holds both.
    let both = [Fence { from: device.fences[0].from, to: device.fences[1].to }];
    let samples = device.sample();
    let ranges = attribute(&samples.intervals, &both, 0).expect("fits");
    assert_eq!(samples.sums(&ranges[0]), (30_000, 90_000));
}

#[test]
fn told_activity_between_fences_is_nobodys() {
    let kernels = [(4_000, 10_000), (5_000, 20_000), (6_000, 30_000)];
    let mut device = Device::new(1_000);
    device.other(9_000, true);
    for (length, count) in kernels {
        device.dispatch(length, count, 0).other(50_000, true).other(10, true);
    }
    check(&device, &kernels, 400);
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(attribute(&[], &[], 0), Ok(vec![]));
    assert_eq!(attribute_by_order(&[], 0), Ok(vec![]));
    let idle = Device::new(1_000).sample();
    assert_eq!(attribute(&idle.intervals, &[], 0), Ok(vec![]));
    assert_eq!(attribute_by_order(&idle.intervals, 0), Ok(vec![]));
}

#[test]
fn order_helps_where_the_clock_is_too_coarse() {
    let kernels = [(4_000, 10_000), (5_000, 20_000), (6_000, 30_000)];
    let mut device = Device::new(1_000);
    for (length, count) in kernels {
        device.dispatch(length, count, 0);
    }
    check(&device, &kernels, 7_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Sums per dispatch are exact, whatever the kernels, the intervals, and a clock that is off within its tolerance.
    #[test]
    fn sums_are_exact(
        interval in 500u64..4_000,
        kernels in proptest::collection::vec((1u64..400_000, 1u64..1_000_000, 0u64..20_000, 0u64..3), 1..40),
        off in -1_000i64..1_000,
    ) {
        let mut device = Device::new(interval);
        let mut wanted = Vec::new();
        for (length, count, wait, others) in kernels {
            // Every sample of a kernel moves the marker.
            let count = count + 4 * (length / interval + 2);
            device.dispatch(length, count, wait);
            wanted.push((length, count));
            for _ in 0..others {
                device.other(length, true);
            }
        }
        let off = off * interval as i64 / 1_001;
        let shifted = |time: u64| time.saturating_add_signed(off);
        let tolerance = interval;
        for fence in device.fences.iter_mut().chain(&mut device.others) {
            *fence = Fence { from: shifted(fence.from), to: shifted(fence.to) };
        }
        check(&device, &wanted, tolerance);
    }
}

#[test]
fn a_long_kernel_beside_a_tiny_one() {
    let mut device = Device::new(500);
    let count = 1 + 4 * (388_365 / 500 + 2);
    device.dispatch(388_365, count, 124).other(388_365, true).dispatch(1, 1 + 8, 0);
    check(&device, &[(388_365, count), (1, 9)], 500);
}

/// Dispatches of these lengths, each begun as soon as the last one's sample is over.
fn by_beat(lengths: &[(u64, u64)]) -> Device {
    let mut device = Device::new(16_000);
    let beat = Beat::new(device.boundary(), 16_000.0);
    device.gap = 0;
    for (at, (length, wait)) in lengths.iter().enumerate() {
        device.dispatch(*length, 1_000_003 * (at as u64 + 1), *wait);
        device.now += beat.gap(device.now, device.now).as_nanos() as u64;
    }
    device.ran.iter_mut().for_each(|ran| ran.lag = 0);
    device
}

#[test]
fn the_end_of_a_sample_keeps_dispatches_apart() {
    let device = by_beat(&[(4_000, 3_000); 20]);
    let samples = device.sample();
    let ranges = attribute(&samples.intervals, &device.fences, Beat::TOLERANCE).expect("fits");
    for (range, ran) in ranges.iter().zip(&device.ran) {
        assert_eq!(samples.sums(range), (ran.count, ran.count * 3));
    }
    let idle = samples.intervals[ranges[0].start..ranges[19].end].iter().filter(|interval| !interval.active).count();
    assert!(idle <= 16 && ranges[18].end - ranges[1].start <= 20, "{idle} idle samples between 20 dispatches");
}

proptest! {
    #[test]
    fn whatever_their_lengths(lengths in proptest::collection::vec((500u64..90_000, 200u64..9_000), 1..40)) {
        let device = by_beat(&lengths);
        let samples = device.sample();
        let ranges = attribute(&samples.intervals, &device.fences, Beat::TOLERANCE).expect("fits");
        for (range, ran) in ranges.iter().zip(&device.ran) {
            prop_assert_eq!(samples.sums(range).0, ran.count);
        }
    }

    /// With a beat that is off, or none, counts are right or discarded.
    #[test]
    fn a_beat_that_is_off_is_noticed(
        lengths in proptest::collection::vec((500u64..20_000, 200u64..9_000), 2..40), off in 0u64..16_000,
    ) {
        let mut device = by_beat(&lengths);
        device.shifted = off;
        let samples = device.sample();
        if let Ok(ranges) = attribute(&samples.intervals, &device.fences, Beat::TOLERANCE) {
            for (range, ran) in ranges.iter().zip(&device.ran) {
                prop_assert_eq!(samples.sums(range).0, ran.count);
            }
        }
    }
}
