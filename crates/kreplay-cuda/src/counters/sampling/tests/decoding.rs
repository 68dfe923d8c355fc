//! When samples are decoded, and what is lost by it.

use super::*;

#[test]
fn portions_are_decoded_beside_the_device() {
    for fault in [Fault::None, Fault::Ticks] {
        let (fake, group) = (Fake::new(fault), group());
        let sampling = sampling(&fake);
        let kernels: Vec<(u64, u64)> = (0..2000).map(|at| (3_000 + at % 7 * 40_000, 99 + at)).collect();
        let readings = hurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).and_then(Delivery::whole);
        assert_eq!(counts(&readings.expect("nothing is lost")), expected(&kernels));
    }
}

#[test]
fn what_was_decoded_as_a_dispatch_ran_is_discarded() {
    let (fake, group) = (Fake::new(Fault::Hasty), group());
    let sampling = sampling(&fake);
    let kernels = vec![(30_000, 99); 600];
    for window in 1..3 {
        // Where the thread is slow there is more than one segment, and another may be whole.
        let found = hurried(&sampling, &fake, (window, &group), &kernels, &|_| {}).expect("it is sampled");
        let discarded = |lost: &LostReadings| matches!(lost.why, CountersError::Discarded(_));
        assert!(!found.lost.is_empty() && found.lost.iter().all(discarded), "{:?}", found.lost);
        assert!(found.readings.len() < kernels.len(), "nothing is discarded");
        assert!(counts(&found.readings).iter().all(|count| *count == Value::Count(99)), "a count is wrong");
    }
    assert_eq!(sampling.given_up(), None, "it may go better the next time");
}

#[test]
fn the_hardware_is_stopped_where_decoding_falls_behind() {
    let (fake, group) = (Fake::new(Fault::None), group());
    fake.0.guarded().slow = Duration::from_millis(20);
    fake.0.guarded().decoding = 30_000_000;
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 2000];
    let readings =
        hurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).and_then(Delivery::whole).expect("nothing is lost");
    assert_eq!(counts(&readings), expected(&kernels));
    assert!(fake.0.guarded().starts > 1, "one segment");
}

#[test]
fn bursts_begin_again_by_themselves() {
    let (fake, (group, _)) = (Fake::new(Fault::None), group());
    fake.0.guarded().decoding = 30_000_000;
    let sampling = sampling(&fake);
    let programming = Programming { group, interval: 4_000, samples: 1024, bursts: true };
    sampling.unit.program(&programming).expect("programmed");
    sampling.unit.begin().expect("started");
    sampling.unit.enter();
    while fake.0.guarded().starts < 4 {
        fake.0.guarded().now += 40_000;
        std::thread::sleep(Duration::from_micros(300));
    }
    let (sender, receiver) = channel();
    let work = move |samples: &segment::Samples| {
        sender.send(samples.times.clone()).expect("the test waits");
        Ok(Delivery::default())
    };
    let part = Gather::default().part(&sampling.owed);
    let ended = Box::new(|failed: Option<(Lost, &CountersError)>| assert!(failed.is_none(), "{failed:?}"));
    sampling.unit.stop(Some(Closing { work: Box::new(work), part, ended })).expect("stopped");
    let times = receiver.recv().expect("delivered");
    let holes = times.windows(2).filter(|pair| pair[1].0 > pair[0].1).count();
    assert!(times.len() > 500 && (2..=3).contains(&holes), "{} samples, {holes} holes", times.len());
}

#[test]
fn of_more_samples_than_are_kept_the_oldest_go() {
    let (group, _) = group();
    // Two samples and two terms in each image: 64 bytes.
    let collected = Collected::new(group, 3 * 64 + 10);
    let times = |image: u64| vec![(image * 20, image * 20 + 10), (image * 20 + 10, image * 20 + 20)];
    for image in [0, 1, 3, 2, 4, 5] {
        collected.take(image, Ok(Taken { times: times(image.into()), values: vec![1.0; 4] }));
    }
    let (sender, receiver) = channel();
    let work = move |samples: &Samples| {
        sender.send(samples.clone()).expect("the test waits");
        Ok(Delivery::default())
    };
    let part = Gather::default().part(&Owed::default());
    collected.close(6, Some(Closing { work: Box::new(work), part, ended: Box::new(|_| {}) }));
    let kept = receiver.recv().expect("delivered");
    assert_eq!(kept.times, (3..6).flat_map(times).collect::<Vec<_>>());
    assert_eq!((kept.values.len(), kept.cuts), (12, vec![80, 100]));
}

#[test]
fn a_program_that_takes_its_time_fills_no_buffer() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        // Far longer than an image lasts, in steps that the thread sees, as it would see time pass: it says that it stops before
        // the device has stopped.
        let stopped = || sampling.unit.is_stopped() && !fake.0.guarded().on;
        while index == 7 && !stopped() {
            fake.0.guarded().now += 20_000;
            std::thread::sleep(Duration::from_micros(300));
        }
        if index == 7 {
            fake.0.guarded().now += 900_000_000;
            fake.submit(5_000, 7);
        }
    });
    assert_eq!(counts(&readings.expect("nothing is lost")), expected(&kernels));
    assert_eq!(fake.0.guarded().starts, 2);
}

#[test]
fn slow_decoding_does_not_make_the_next_segment_seem_full() {
    let (fake, group) = (Fake::new(Fault::None), group());
    fake.0.guarded().decoding = 30_000_000;
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 400];
    for window in 1..4 {
        let readings = hurried(&sampling, &fake, (window, &group), &kernels, &|_| {})
            .and_then(Delivery::whole)
            .expect("nothing is lost");
        assert_eq!(counts(&readings), expected(&kernels));
    }
    assert!(fake.0.guarded().starts < 20, "{} segments", fake.0.guarded().starts);
}

#[test]
fn of_two_dispatches_beside_a_decoding_both_are_lost_and_no_other() {
    let group = group();
    let fence = |at: u64| Fence { from: at * 100_000, to: at * 100_000 + 40_000 };
    let interval = 20_000;
    let segment = Segment {
        group: Arc::clone(&group.0),
        counters: Arc::clone(&group.1),
        pass: 0,
        first: 7,
        fences: (1..6).map(fence).collect(),
        others: Vec::new(),
        interval,
        tolerance: 100,
    };
    let times: Vec<(u64, u64)> = (0..35).map(|at| (at * interval, (at + 1) * interval)).collect();
    // Two samples of each dispatch's hold something.
    let held = |at: u32| if (5..30).contains(&at) && at % 5 < 2 { [1.0, f64::from(at)] } else { [0.0; 2] };
    let values: Vec<f64> = (0..35).flat_map(held).collect();
    // Within the second; and between the fourth and the fifth, near both.
    let check = |cuts: &[u64], lost: &[Range<u32>], left: &[u64]| {
        let samples = Samples { times: times.clone(), values: values.clone(), cuts: cuts.to_vec(), lack: None };
        let found = segment.readings(&samples).unwrap_or_else(|(_, error)| panic!("{error}"));
        assert_eq!(found.lost.into_iter().filter_map(|lost| lost.dispatches).collect::<Vec<_>>(), lost);
        assert_eq!(counts(&found.readings), left.iter().copied().map(Value::Count).collect::<Vec<_>>());
    };
    check(&[220_000], from_ref(&(8..9)), &[11, 31, 41, 51]);
    check(&[220_000, 470_000], &[8..9, 10..12], &[11, 31]);
}

#[test]
fn what_does_not_fit_is_discarded_and_soon_given_up() {
    for (fault, patience) in [
        (Fault::Hole, 2),
        (Fault::Silent, 2),
        (Fault::Stray, 2),
        (Fault::NoGap, 2),
        (Fault::Overflow, 8),
        (Fault::Full, 8),
    ] {
        let (fake, group) = (Fake::new(fault), group());
        let sampling = sampling(&fake);
        let kernels = vec![(8_000, 130_240); 20];
        for window in 1..=patience {
            assert_eq!(sampling.given_up(), None, "{fault:?} before window {window}");
            let result = pass(&sampling, &fake, (window, &group), &kernels, &|_| {});
            assert!(matches!(result, Err(CountersError::Discarded(_))), "{fault:?}: {result:?}");
            fake.0.guarded().activities.clear();
        }
        assert!(sampling.given_up().is_some(), "{fault:?}");
        let refused = pass(&sampling, &fake, (patience + 1, &group), &kernels, &|_| {});
        assert!(matches!(refused, Err(CountersError::Unavailable(_))), "{fault:?}: {refused:?}");
    }
}

/// The samples of a decoding that there was no room for are no reason to lose those of the others.
#[test]
fn only_dispatches_that_lack_samples_lose_their_values() {
    for fault in [Fault::Cramped, Fault::Spilt] {
        let (fake, group) = (Fake::new(fault), group());
        let sampling = sampling(&fake);
        let kernels: Vec<(u64, u64)> = (0..2000).map(|at| (3_000 + at % 7 * 4_000, 99 + at)).collect();
        let found = unhurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("it is sampled");
        let all: Vec<u32> = found.lost.iter().filter_map(|lost| lost.dispatches.clone()).flatten().collect();
        let read: Vec<u32> = found.readings.iter().map(|reading| reading.dispatch).collect();
        assert!(!all.is_empty() && all.len() < 600, "{fault:?}: {:?}", found.lost);
        let mut told: Vec<u32> = all.iter().chain(&read).copied().collect();
        told.sort_unstable();
        assert_eq!(told, (0..2000).collect::<Vec<_>>(), "{fault:?}: each is told of once");
        for reading in &found.readings {
            assert_eq!(reading.value, Value::Count(99 + u64::from(reading.dispatch)), "{fault:?}");
        }
        let reason = if fault == Fault::Cramped { "more samples waited" } else { "buffer was full" };
        assert!(found.lost.iter().any(|lost| lost.why.to_string().contains(reason)), "{fault:?}: {:?}", found.lost);
    }
}

#[test]
fn windows_in_a_row_are_those_of_the_device_whichever_context_numbers_them() {
    let (fake, group) = (Fake::new(Fault::Hole), group());
    let sampling = sampling(&fake);
    let kernels = vec![(8_000, 130_240); 20];
    let run = |agent, window| of_agent(&sampling, &fake, ((AgentId(agent), window), &group), &kernels, &|_| {});
    for (agent, window) in [(1, 40), (2, 1)] {
        assert_eq!(sampling.given_up(), None, "before window {window} of agent {agent}");
        let lost = run(agent, window).expect("it is sampled").lost;
        assert!(!lost.is_empty(), "window {window} of agent {agent}");
    }
    assert!(sampling.given_up().is_some());
}
