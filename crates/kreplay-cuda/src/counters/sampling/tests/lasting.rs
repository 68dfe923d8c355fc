//! Kernels that last longer than others.

use super::*;

#[test]
fn a_long_kernel_lengthens_the_interval_of_the_next_pass() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 5), (30_000_000, 1_000_000_007), (3_000, 5)];
    // Too many samples for an image: lost. What came before them, and in another segment, is not.
    let first = unhurried(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("it is sampled");
    let lost = &first.lost[..];
    let told = matches!(lost, [LostReadings { dispatches: Some(range), why: CountersError::Discarded(_) }] if *range == (1..2));
    assert!(told, "{lost:?}");
    assert_eq!(first.readings.iter().map(|reading| reading.dispatch).collect::<Vec<u32>>(), [0, 2]);
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
        assert_eq!(lost, [Some(first as u32..first as u32 + 1)]);
        let mut left = kernels.clone();
        left.remove(first);
        assert_eq!(counts(&found.readings), expected(&left));
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

/// Each time on another CPU, if there is one.
#[test]
fn decoding_is_tried_again_where_it_does_not_keep_up() {
    const SAMPLES: u64 = 384;
    for (takes, tries) in [(10_000, 1), (60_000, pace::TRIES as u32)] {
        let (fake, (group, _)) = (Fake::new(Fault::None), group());
        let sampling = sampling(&fake);
        fake.0.guarded().lasts = 24_000 * SAMPLES;
        fake.0.guarded().decoding = takes * SAMPLES;
        sampling.prepare(&group, 1000).expect("programmed");
        assert_eq!(fake.0.guarded().starts, tries, "{takes} ns a sample");
        let last = fake.0.guarded().programmed.last().copied().expect("it was programmed");
        assert!(last * 9 / 10 <= takes.max(24_000) && takes * 9 / 10 <= last, "{last} ns apart, {takes} to decode one");
    }
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
