//! Whose what is counted.

use super::*;

#[test]
fn every_dispatch_gets_its_own_count() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels: Vec<(u64, u64)> = (0..40).map(|at| (500 + at * 777, 1_000_003 * (at + 1))).collect();
    for window in 1..3 {
        let readings = pass(&sampling, &fake, (window, &group), &kernels, &|_| {}).expect("they fit");
        assert_eq!(counts(&readings), expected(&kernels));
        let dispatches: Vec<u32> = readings.iter().map(|reading| reading.dispatch).collect();
        assert_eq!(dispatches, (0..40).collect::<Vec<u32>>());
        assert!(readings.iter().all(|reading| reading.pass == 3 && reading.bound.is_none() && !reading.derived));
    }
    assert_eq!(fake.0.guarded().programmed.len(), 1, "a group stays programmed from window to window");
}

#[test]
fn what_is_submitted_between_dispatches_is_nobodys() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(4_000, 130_240); 20];
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        if index % 3 == 1 || index == kernels.len() {
            fake.submit(9_000, 77);
        }
    });
    assert_eq!(counts(&readings.expect("they fit")), expected(&kernels));
}

#[test]
fn what_the_host_moves_while_nothing_runs_is_not_taken_off_a_dispatch() {
    let fake = Fake::new(Fault::None);
    fake.0.guarded().noise = 50;
    let sampling = sampling(&fake);
    let kernels: Vec<(u64, u64)> = (0..20).map(|at| (if at % 2 == 0 { 4_000 } else { 400_000 }, 14_000)).collect();
    let group = group_of("lts__t_sectors.sum");
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        if index == 7 {
            fake.submit(9_000, 1_000_000);
        }
    });
    // Beside it is what the host moved in the rest of its first and last sample, and in one behind them.
    let beside = 50 * 3 * fake.0.guarded().interval / 1000;
    for (value, (_, count)) in counts(&readings.expect("they fit")).iter().zip(&kernels) {
        let Value::Count(value) = value else { panic!("{value:?} is no count") };
        assert!((*count..=count + beside).contains(value), "{value} of {count}");
    }
}

#[test]
fn what_arrives_late_is_a_dispatchs_until_it_must_have_arrived() {
    // Samples of 20 µs: an active one, two idle ones. The fence ends before the first of these, or within it.
    let group = group_of("lts__t_sectors.sum");
    let interval = 20_000;
    for (over, expected) in [(39_000, 130), (37_900, 100), (45_000, 130)] {
        let segment = Segment {
            group: Arc::clone(&group.0),
            counters: Arc::clone(&group.1),
            pass: 0,
            first: 0,
            fences: vec![Fence { from: 21_000, to: over }],
            others: Vec::new(),
            interval,
            tolerance: 100,
        };
        let times = (0..5).map(|at| (at * interval, (at + 1) * interval)).collect();
        let samples =
            Samples { times, values: vec![0.0, 7.0, 9.0, 100.0, 0.0, 30.0, 0.0, 50.0, 0.0, 0.0], ..Samples::default() };
        let found = segment.readings(&samples).unwrap_or_else(|(_, error)| panic!("{error}"));
        assert_eq!(counts(&found.readings), [Value::Count(expected)], "over at {over} ns");
    }
}

#[test]
fn what_else_runs_is_noticed_though_dispatches_share_no_idle_sample() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 300];
    let result = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        if index == 200 {
            fake.0.guarded().fault = Fault::Stray;
        }
    });
    assert!(matches!(result, Err(CountersError::Discarded(_))), "{result:?}");
}

#[test]
fn once_it_is_known_when_samples_end_a_dispatch_takes_one_of_them() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels: Vec<(u64, u64)> = (0..2000).map(|at| (2_000 + at % 11 * 500, 99 + at)).collect();
    let begin = fake.0.guarded().now;
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("nothing is lost");
    assert_eq!(counts(&readings), expected(&kernels));
    let world = fake.0.guarded();
    let samples = (world.now - begin) / world.interval / 2000;
    assert!(samples < 2, "{samples} and more for each dispatch");
}
