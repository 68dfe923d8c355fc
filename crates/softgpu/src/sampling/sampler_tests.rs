//! With a clock that the tests set. Each test has a thread of its own, and so a clock of its own.

use super::*;
use crate::fault::FaultSpec;
use std::cell::Cell;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(1_000_000) };
}

const INTERVAL: u64 = 1000;

fn pass(ns: u64) {
    NOW.set(NOW.get() + ns);
}

fn sampler() -> Sampler {
    Sampler::new(|| NOW.get())
}

fn event(name: &str) -> (u32, u32) {
    let found = EVENTS.iter().find(|event| event.name == name).expect("an event");
    (found.block.0, found.event)
}

fn faults(text: &str) -> Faults {
    let faults = Faults::default();
    faults.inject(FaultSpec::parse_list(text).expect("faults"));
    faults
}

/// A dispatch of `waves` waves that takes `ns`.
fn dispatch(sampler: &Sampler, faults: &Faults, waves: u64, ns: u64) {
    let running = sampler.began();
    pass(ns);
    sampler.ended(running, &ExecStats { waves, ..ExecStats::default() }, faults);
}

fn started(faults: &Faults, capacity: usize) -> Sampler {
    let sampler = sampler();
    sampler.configure(&[event("SQ_WAVES")], INTERVAL, capacity, faults).expect("configured");
    assert!(sampler.start() && !sampler.start());
    sampler
}

fn waves(samples: &[Sample]) -> Vec<u64> {
    samples.iter().map(|sample| sample.values[0]).collect()
}

#[test]
fn every_interval_has_a_sample_and_dispatches_stand_apart() {
    let none = Faults::default();
    let sampler = started(&none, 100);
    pass(2500);
    dispatch(&sampler, &none, 100, 2000);
    pass(3000);
    dispatch(&sampler, &none, 7, 1);
    pass(2000);
    assert!(sampler.stop(&none));
    dispatch(&sampler, &none, 9, 1000);
    let (samples, lost) = sampler.read(usize::MAX, &none);
    assert_eq!((waves(&samples), lost), (vec![0, 0, 25, 50, 25, 0, 0, 7, 0], 0));
    assert_eq!(samples.iter().map(|sample| sample.busy).collect::<Vec<_>>(), [0, 0, 500, 1000, 500, 0, 0, 1, 0]);
    assert!(samples.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].end - pair[0].start == INTERVAL));
}

#[test]
fn an_interval_is_told_only_when_nothing_can_count_in_it_any_more() {
    let none = Faults::default();
    let sampler = started(&none, 100);
    pass(1500);
    let running = sampler.began();
    pass(5000);
    assert_eq!(sampler.read(usize::MAX, &none).0.len(), 1, "the dispatch runs since the second interval");
    sampler.ended(running, &ExecStats { waves: 10, ..ExecStats::default() }, &none);
    drop(sampler.began());
    assert_eq!(sampler.read(2, &none).0.len(), 2);
    assert_eq!(sampler.read(usize::MAX, &none).0.len(), 3);
}

#[test]
fn what_does_not_fit_the_buffer_is_counted() {
    let none = Faults::default();
    let sampler = started(&none, 4);
    pass(10 * INTERVAL);
    let (samples, lost) = sampler.read(usize::MAX, &none);
    assert_eq!((samples.len(), lost), (4, 6));
    pass(INTERVAL);
    let (samples, lost) = sampler.read(usize::MAX, &none);
    assert_eq!((samples.len(), lost), (1, 0));
}

#[test]
fn groups_have_to_fit_the_slots() {
    let none = Faults::default();
    let sampler = sampler();
    assert!(!sampler.start(), "nothing is programmed");
    let sq: Vec<(u32, u32)> =
        EVENTS.iter().filter(|event| event.block == BlockId::SQ).map(|event| (event.block.0, event.event)).collect();
    assert!(sq.len() > 8);
    assert_eq!(sampler.configure(&sq[..8], INTERVAL, 1, &none), Ok(1));
    let slots = ConfigureError::Slots { block: BlockId::SQ.0, slots: 8 };
    assert_eq!(sampler.configure(&sq[..9], INTERVAL, 1, &none), Err(slots));
    let unknown = ConfigureError::Unknown { block: 99, event: 0 };
    assert_eq!(sampler.configure(&[(99, 0)], INTERVAL, 1, &none), Err(unknown));
    assert_eq!(sampler.configure(&sq[..1], 999, 1, &none), Err(ConfigureError::Size));
    assert!(sampler.start());
    assert_eq!(sampler.configure(&sq[..1], INTERVAL, 1, &none), Err(ConfigureError::Running));
}

#[test]
fn merged_runs_have_no_gap_and_the_same_sum() {
    let faults = faults("sampling-merge:n=1");
    let sampler = started(&faults, 100);
    for _ in 0..3 {
        pass(3000);
        dispatch(&sampler, &faults, 10, 1000);
    }
    pass(3000);
    let samples = sampler.read(usize::MAX, &faults).0;
    let busy: Vec<bool> = samples.iter().map(|sample| sample.busy > 0).collect();
    let expected = [false, false, false, true, true, true, true, true, false, false, false, true];
    assert_eq!(busy[..12], expected);
    assert_eq!(waves(&samples).iter().sum::<u64>(), 30);
}

#[test]
fn lost_samples_leave_a_hole() {
    let faults = faults("sampling-lose:n=3");
    let sampler = started(&faults, 100);
    pass(5000);
    let (samples, lost) = sampler.read(usize::MAX, &faults);
    assert_eq!((samples.len(), lost), (4, 0));
    assert_eq!(samples[2].start - samples[1].end, INTERVAL);
}

#[test]
fn stray_activity_comes_behind_a_dispatch() {
    let faults = faults("sampling-stray:n=2");
    let sampler = started(&faults, 100);
    for _ in 0..2 {
        pass(4000);
        dispatch(&sampler, &faults, 10, 1000);
    }
    pass(5000);
    let samples = sampler.read(usize::MAX, &faults).0;
    assert_eq!(waves(&samples), [0, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0, 0, 1000, 0, 0]);
}

#[test]
fn a_programming_that_does_not_take_shows_by_its_number() {
    let faults = faults("sampling-stuck:n=2");
    let sampler = started(&faults, 100);
    assert!(sampler.stop(&faults));
    let second = sampler.configure(&[event("SQ_INSTS"), event("SQ_WAVES")], INTERVAL, 100, &faults).expect("accepted");
    assert!(sampler.start());
    dispatch(&sampler, &faults, 10, 1000);
    pass(1000);
    let samples = sampler.read(usize::MAX, &faults).0;
    assert_eq!((samples[0].values.clone(), samples[0].configuration), (vec![10, 0], second - 1));
}
