//! Sampling over a device of the test's.

mod fake;
mod unfenced;

use super::collect::{Closing, Collected, Lost, Taken};
use super::segment::{Samples, Segment};
use super::*;
use crate::counters::gather::Gather;
use crate::counters::planning::formula::{Formula, MARKERS};
use crate::counters::planning::host::ConfigImage;
use fake::{Fake, FakeValues, Fault};
use kreplay_engine::sampling::Fence;
use kreplay_engine::{Delivery, LostReadings, PlannedCounter, Reading, Value};
use std::ops::Range;
use std::slice::from_ref;
use std::sync::mpsc::channel;

const COUNTER: &str = "sm__inst_executed.sum";

fn group() -> (Arc<SampleGroup>, Arc<[PlannedCounter]>) {
    group_of(COUNTER)
}

fn group_of(counter: &str) -> (Arc<SampleGroup>, Arc<[PlannedCounter]>) {
    let asked = [(Arc::from(counter), Formula::of(counter).expect("it adds up"))];
    let group = SampleGroup::new(&asked, MARKERS[0], ConfigImage { bytes: Arc::new([]), passes: 1 });
    let counter = PlannedCounter { name: counter.into(), block: "".into(), unit: "instruction".into() };
    (Arc::new(group), Arc::new([counter]))
}

fn sampling(fake: &Fake) -> Sampling {
    // All that was sampled before is behind the first start.
    let now = fake.0.guarded().now;
    fake.0.guarded().sampled = now;
    let make: MakeValues = Arc::new(|_| Ok(Box::new(FakeValues)));
    Sampling::new(Box::new(fake.clone()), make).expect("a thread")
}

type Kernels<'a> = &'a [(u64, u64)];

type Reported = (Arc<SampleGroup>, Arc<[PlannedCounter]>);

type Grouped<'a> = (u64, &'a Reported);

/// One pass over kernels of these lengths and counts, of which none begins before the thread has done what it was asked for: the
/// device's clock stands still meanwhile, so nothing depends on how fast the thread is.
fn pass(
    sampling: &Sampling,
    fake: &Fake,
    grouped: Grouped<'_>,
    kernels: Kernels<'_>,
    between: &dyn Fn(usize),
) -> Result<Vec<Reading>, CountersError> {
    unhurried(sampling, fake, grouped, kernels, between)?.whole()
}

/// As [`pass`], with what is left where something is lost.
fn unhurried(
    sampling: &Sampling,
    fake: &Fake,
    grouped: Grouped<'_>,
    kernels: Kernels<'_>,
    between: &dyn Fn(usize),
) -> Result<Delivery, CountersError> {
    hurried(sampling, fake, grouped, kernels, &|index| {
        while !sampling.unit.keeps_up() {
            std::thread::yield_now();
        }
        between(index);
    })
}

/// As [`pass`], whatever the thread does meanwhile.
fn hurried(
    sampling: &Sampling,
    fake: &Fake,
    (window, group): Grouped<'_>,
    kernels: Kernels<'_>,
    between: &dyn Fn(usize),
) -> Result<Delivery, CountersError> {
    of_agent(sampling, fake, ((AgentId(1), window), group), kernels, between)
}

/// As [`hurried`], of any agent.
fn of_agent(
    sampling: &Sampling,
    fake: &Fake,
    (window, group): (OfAgent, &Reported),
    kernels: Kernels<'_>,
    between: &dyn Fn(usize),
) -> Result<Delivery, CountersError> {
    let (gather, mut ground) = (Gather::default(), fake.clone());
    let dispatches = kernels.len() as u32;
    let mut pass = sampling.begin((&group.0, &group.1), 3, (dispatches, window), &gather, &mut ground)?;
    for (index, (length, count)) in kernels.iter().enumerate() {
        between(index);
        sampling.before(&mut pass, index as u32, &mut ground)?;
        fake.submit(*length, *count);
        sampling.after(&mut pass, &mut ground)?;
    }
    between(kernels.len());
    sampling.end(pass, &mut ground)?;
    let (sender, receiver) = channel();
    gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
    sampling.flush();
    Ok(receiver.recv().expect("delivered"))
}

fn counts(readings: &[Reading]) -> Vec<Value> {
    readings.iter().map(|reading| reading.value).collect()
}

fn expected(kernels: Kernels<'_>) -> Vec<Value> {
    kernels.iter().map(|(_, count)| Value::Count(*count)).collect()
}

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
            Samples { times, values: vec![0.0, 7.0, 9.0, 100.0, 0.0, 30.0, 0.0, 50.0, 0.0, 0.0], cuts: Vec::new() };
        let found = segment.readings(&samples).unwrap_or_else(|(_, error)| panic!("{error}"));
        assert_eq!(counts(&found.readings), [Value::Count(expected)], "over at {over} ns");
    }
}

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
fn a_long_kernel_lengthens_the_interval_of_the_next_pass() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 5), (30_000_000, 1_000_000_007), (3_000, 5)];
    // Too many samples for an image: lost. What came in another segment is not.
    let first = unhurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("it is sampled");
    let lost = &first.lost[..];
    let told = matches!(lost, [LostReadings { dispatches: Some(range), why: CountersError::Discarded(_) }] if *range == (0..2));
    assert!(told, "{lost:?}");
    assert_eq!(first.readings.iter().map(|reading| reading.dispatch).collect::<Vec<u32>>(), [2]);
    let second = pass(&sampling, &fake, (2, &group), &kernels, &|_| {}).expect("they fit");
    assert_eq!(counts(&second), expected(&kernels));
    let programmed = fake.0.guarded().programmed.clone();
    assert!(programmed.len() == 2 && programmed[1] > programmed[0], "{programmed:?}");
}

#[test]
fn of_long_kernels_only_the_first_is_lost() {
    for first in [0, 3] {
        let (fake, group) = (Fake::new(Fault::None), group());
        let sampling = sampling(&fake);
        let mut kernels = vec![(3_000, 5); first];
        kernels.extend([(30_000_000, 1_000_000_007); 3]);
        kernels.push((4_000, 7));
        let found = unhurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("it is sampled");
        let lost: Vec<_> = found.lost.iter().map(|lost| lost.dispatches.clone()).collect();
        assert_eq!(lost, [Some(0..first as u32 + 1)]);
        assert_eq!(counts(&found.readings), expected(&kernels[first + 1..]));
        // The next pass finds the hardware as it needs it.
        let next = pass(&sampling, &fake, (2, &group), &kernels, &|_| {}).expect("they fit");
        assert_eq!(counts(&next), expected(&kernels));
        assert_eq!(fake.0.guarded().programmed.len(), 2);
    }
}

#[test]
fn a_kernel_that_outlasts_an_image_takes_none_of_those_before_it_along() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let mut kernels: Vec<(u64, u64)> = (0..60).map(|at| (2_000 + at * 100, 9 + at)).collect();
    kernels.extend([(90_000_000, 1_000_000_007), (3_000, 5), (90_000_000, 1_000_000_009), (3_000, 6)]);
    let found = unhurried(&sampling, &fake, (1, &group), &kernels, &|index| {
        fake.0.guarded().gradual = index >= 60;
    });
    let found = found.expect("it is sampled");
    assert_eq!(
        found.lost.iter().map(|lost| lost.dispatches.clone()).collect::<Vec<_>>(),
        [Some(60..61)],
        "{:?}",
        found.lost
    );
    kernels.remove(60);
    assert_eq!(counts(&found.readings), expected(&kernels));
    let programmed = fake.0.guarded().programmed.clone();
    assert!(programmed.len() == 2 && programmed[1] > programmed[0], "{programmed:?}");
}

#[test]
fn a_quiet_beginning_that_is_longer_than_a_rest_is_none() {
    let (fake, group) = (Fake::new(Fault::None), group());
    fake.0.guarded().gradual = true;
    let sampling = sampling(&fake);
    sampling.expect(900_000_000);
    let kernels = [(3_000, 5), (900_000_000, 1_000_000_007), (4_000, 6), (3_000, 7)];
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("nothing is lost");
    assert_eq!(counts(&readings), expected(&kernels));
    let world = fake.0.guarded();
    assert!(world.starts == 1 && world.interval > 4_000_000, "{} starts, {} ns", world.starts, world.interval);
}

/// After long kernels of another context a trial would take seconds, for which the first launch waits.
#[test]
fn what_decoding_takes_is_tried_only_where_samples_come_fast() {
    for (longest, starts) in [(4_000, 1), (900_000_000, 0)] {
        let (fake, (group, _)) = (Fake::new(Fault::None), group());
        let sampling = sampling(&fake);
        sampling.expect(longest);
        sampling.prepare(&group, 1000).expect("programmed");
        assert!(sampling.is_enabled());
        assert_eq!(fake.0.guarded().starts, starts, "{longest} ns");
    }
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
        let samples = Samples { times: times.clone(), values: values.clone(), cuts: cuts.to_vec() };
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

#[test]
fn groups_take_turns_and_their_images_are_made_twice_at_most() {
    let (fake, one, two) = (Fake::new(Fault::None), group(), group());
    let sampling = sampling(&fake);
    let kernels: Vec<(u64, u64)> = (0..20).map(|at| (3_000, 7 + at)).collect();
    for window in 1..6 {
        for group in [&one, &two] {
            let readings = pass(&sampling, &fake, (window, group), &kernels, &|_| {}).expect("they fit");
            assert_eq!(counts(&readings), expected(&kernels));
        }
    }
    let world = fake.0.guarded();
    assert_eq!((world.programmed.len(), world.blanks), (10, 4));
}

/// A program may make and end contexts again and again.
#[test]
fn nothing_is_kept_of_a_group_that_is_gone() {
    let fake = Fake::new(Fault::None);
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    let run = |window, group: &Reported| pass(&sampling, &fake, (window, group), &kernels, &|_| {}).expect("they fit");
    let groups = [group(), group()];
    run(1, &groups[0]);
    let [gone, next] = groups.map(|group| (Arc::downgrade(&group.0), group));
    drop(gone.1);
    run(2, &next.1);
    // Who has read the last image lets go of it a moment after its values are delivered.
    let start = std::time::Instant::now();
    while gone.0.strong_count() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "somebody has it");
        std::thread::yield_now();
    }
}

#[test]
fn what_does_not_start_again_is_programmed_anew() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    for window in 1..3 {
        let readings = pass(&sampling, &fake, (window, &group), &kernels, &|_| {}).expect("they fit");
        assert_eq!(counts(&readings), expected(&kernels));
        fake.0.guarded().refuses = true;
    }
    assert_eq!(fake.0.guarded().programmed.len(), 2);
}

#[test]
fn hardware_without_an_image_is_given_back() {
    let (fake, group) = (Fake::new(Fault::NoImage), group());
    let sampling = sampling(&fake);
    pass(&sampling, &fake, (1, &group), &[(8_000, 130_240)], &|_| {}).expect_err("there is no image");
    sampling.release();
    assert!(!sampling.is_enabled() && !fake.0.guarded().enabled, "ranges would be refused");
}

#[test]
fn an_overflow_makes_it_program_anew() {
    let (fake, group) = (Fake::new(Fault::Overflow), group());
    let sampling = sampling(&fake);
    let kernels = vec![(8_000, 130_240); 4];
    pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect_err("samples are lost");
    fake.0.guarded().fault = Fault::None;
    let readings = pass(&sampling, &fake, (2, &group), &kernels, &|_| {}).expect("they fit");
    assert_eq!(counts(&readings), expected(&kernels));
    assert_eq!(fake.0.guarded().programmed.len(), 2);
}

/// Kernels that run for seconds are sampled as seldom as that.
#[test]
fn samples_may_be_milliseconds_apart() {
    use crate::tables::{Cupti, Environment, find_cupti};
    const INTERVAL: u64 = 16_384_000;
    let Some(agent) = crate::agent::tests::gpu_agent() else { return };
    let found = find_cupti(&Environment::of_process()).expect("a machine with a GPU has CUPTI");
    let cupti = Arc::new(Cupti::load(&found).expect("it has every function"));
    let availability = {
        let _entered = agent.enter().expect("the context is there");
        crate::counters::availability(&cupti, (agent.device(), agent.uuid()), agent.context(), Duration::from_secs(20))
    };
    let image = availability.sampling.expect("it can be sampled");
    let planner =
        crate::counters::planning::planner::Planner::new(&cupti, &availability.chip, &availability.image, Some(&image));
    let group = Arc::new(planner.one_group(&["sm__inst_executed.sum".into()]).expect("one group"));
    let mut session = session::Session::new(Arc::clone(&cupti), agent.device());
    session.program(&group, INTERVAL).expect("programmed");
    let mut image = session.empty_image(pace::SAMPLES).expect("an image");
    session.start().expect("started");
    std::thread::sleep(Duration::from_millis(400));
    session.stop().expect("stopped");
    let times = session.decode(&mut image).expect("decoded").times;
    assert!(times.len() >= 10, "{} samples", times.len());
    assert!(times[1..].iter().all(|(from, to)| (to - from).abs_diff(INTERVAL) < INTERVAL / 10), "{times:?}");
}
