//! Sampling over a device whose clock stands still unless it is moved.

use super::formula::{Formula, MARKERS};
use super::sampler::{Decoded, Values};
use super::*;
use crate::counters::host::ConfigImage;
use kreplay_engine::{Reading, Value};
use std::sync::mpsc::channel;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The hardware's buffer was full.
    Overflow,
    /// A sample in the middle is missing.
    Hole,
    /// The hardware was not programmed, and takes no samples.
    Silent,
    /// Something runs in the gaps.
    Stray,
    /// Dispatches do not wait for each other.
    NoGap,
    /// The image is full.
    Full,
}

/// A stretch of activity and its count.
struct Activity {
    from: u64,
    to: u64,
    count: u64,
}

struct World {
    now: u64,
    busy: u64,
    interval: u64,
    /// Just started, and when.
    running: bool,
    started: u64,
    /// Up to when samples were taken.
    sampled: u64,
    activities: Vec<Activity>,
    submitted: u64,
    /// Empty images that were made.
    blanks: u32,
    programmed: Vec<u64>,
    starts: u32,
    fault: Fault,
    /// Samples are taken, or when that ended.
    on: bool,
    stopped: u64,
    /// How long the decoding behind a stop takes.
    decoding: u64,
    /// What the second term counts in a microsecond although nothing runs.
    noise: u64,
}

impl World {
    /// What was counted until `time`.
    fn until(&self, time: u64) -> (u64, u64) {
        let part = |activity: &Activity| {
            let (run, whole) = (time.clamp(activity.from, activity.to) - activity.from, activity.to - activity.from);
            (run, activity.count * run / whole)
        };
        self.activities.iter().map(part).fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

#[derive(Clone)]
struct Fake(Arc<Mutex<World>>);

impl Fake {
    fn new(fault: Fault) -> Self {
        Self(Arc::new(Mutex::new(World {
            now: 1_000_000_000,
            busy: 0,
            interval: 0,
            running: false,
            started: 0,
            sampled: 0,
            activities: Vec::new(),
            submitted: 0,
            blanks: 0,
            programmed: Vec::new(),
            starts: 0,
            fault,
            on: false,
            stopped: 0,
            decoding: 0,
            noise: 0,
        })))
    }

    /// Something is submitted: it begins 5 µs later and runs this long.
    fn submit(&self, length: u64, count: u64) {
        let mut world = self.0.guarded();
        let from = world.now.max(world.busy) + 5_000;
        world.now += 2_000;
        world.submitted += 1;
        world.busy = from + length;
        world.activities.push(Activity { from, to: from + length, count });
    }
}

impl Ground for Fake {
    type Error = CountersError;
    fn idle(&mut self) -> Result<(), CountersError> {
        let mut world = self.0.guarded();
        world.now = world.now.max(world.busy) + 3_000;
        Ok(())
    }
    fn now(&mut self) -> u64 {
        let mut world = self.0.guarded();
        world.now += 50;
        world.now
    }
    fn submissions(&mut self) -> u64 {
        self.0.guarded().submitted
    }
    fn pass(&mut self, time: Duration) {
        let mut world = self.0.guarded();
        if world.fault != Fault::NoGap {
            world.now += time.as_nanos() as u64;
        }
        if world.fault == Fault::Stray {
            let from = world.now - time.as_nanos() as u64 / 2;
            world.activities.push(Activity { from, to: from + 500, count: 1 });
        }
    }
}

impl Sampler for Fake {
    fn program(&mut self, _group: &Arc<SampleGroup>, interval: u64) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        world.interval = interval;
        world.programmed.push(interval);
        Ok(())
    }
    fn start(&mut self) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        world.starts += 1;
        world.sampled = world.sampled.max(world.stopped);
        world.running = true;
        world.on = true;
        world.started = world.now;
        Ok(())
    }
    fn stop(&mut self) -> Result<(), SamplerError> {
        let mut world = self.0.guarded();
        // A little goes on until the hardware has stopped.
        world.now += world.interval;
        world.on = false;
        world.stopped = world.now;
        Ok(())
    }
    fn now(&mut self) -> u64 {
        self.0.guarded().now
    }
    fn release(&mut self) {}
    fn empty_image(&mut self, samples: u32) -> Result<Vec<u8>, SamplerError> {
        self.0.guarded().blanks += 1;
        Ok(vec![0; samples as usize * 16])
    }
    fn decode(&mut self, image: &mut [u8]) -> Result<Decoded, SamplerError> {
        let mut world = self.0.guarded();
        let mut decoded = Decoded { overflow: world.fault == Fault::Overflow, ..Decoded::default() };
        if world.fault == Fault::Silent {
            return Ok(decoded);
        }
        let mut at = world.sampled;
        let mut first = std::mem::take(&mut world.running).then_some(world.started);
        while at + world.interval <= world.now {
            // The first sample of a start reaches back to the last stop.
            let end = first.take().unwrap_or(at) + world.interval;
            let (before, after) = (world.until(at), world.until(end));
            let place = decoded.times.len() * 16;
            if place + 16 > image.len() {
                // The rest is gone.
                decoded.full = true;
                at = world.now;
                break;
            }
            image[place..place + 8].copy_from_slice(&(after.0 - before.0).to_le_bytes());
            let noise = (end - at) * world.noise / 1000;
            image[place + 8..place + 16].copy_from_slice(&(after.1 - before.1 + noise).to_le_bytes());
            decoded.times.push((at, end));
            at = end;
        }
        decoded.full |= world.fault == Fault::Full;
        world.sampled = at;
        if !world.on {
            world.now += world.decoding;
            world.sampled = world.now;
        }
        if world.fault == Fault::Hole && decoded.times.len() > 8 {
            let (first, last) = (decoded.times[4], decoded.times[6]);
            decoded.times[4] = (first.0, first.0 + 1);
            decoded.times[5] = (last.0, last.0 + 1);
        }
        Ok(decoded)
    }
}

struct FakeValues;

impl Values for FakeValues {
    fn values(&self, image: &[u8], index: usize, into: &mut [f64]) -> Result<(), SamplerError> {
        for (term, value) in into.iter_mut().enumerate() {
            let place = index * 16 + term * 8;
            let bytes = image[place..place + 8].try_into().expect("eight bytes");
            *value = u64::from_le_bytes(bytes) as f64;
        }
        Ok(())
    }
}

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

/// One pass over kernels of these lengths and counts.
fn pass(
    sampling: &Sampling,
    fake: &Fake,
    (window, group): (u64, &(Arc<SampleGroup>, Arc<[PlannedCounter]>)),
    kernels: Kernels<'_>,
    between: &dyn Fn(usize),
) -> Result<Vec<Reading>, CountersError> {
    let (gather, mut ground) = (Gather::new(Arc::new(|_, _| {})), fake.clone());
    let most = kernels.len() as u32;
    let mut pass = sampling.begin((&group.0, &group.1), 3, (most, window), &gather, &mut ground)?;
    for (index, (length, count)) in kernels.iter().enumerate() {
        between(index);
        sampling.before(&mut pass, index as u32, &mut ground)?;
        fake.submit(*length, *count);
        sampling.after(&mut pass, &mut ground)?;
    }
    between(kernels.len());
    sampling.end(pass, &mut ground)?;
    let (sender, receiver) = channel();
    gather.close(Box::new(move |result| sender.send(result).expect("the test waits")));
    sampling.flush();
    receiver.recv().expect("delivered")
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
fn what_is_counted_while_nothing_runs_is_taken_off() {
    let fake = Fake::new(Fault::None);
    fake.0.guarded().noise = 50;
    let sampling = sampling(&fake);
    let kernels = vec![(4_000, 86_000); 20];
    let group = group_of("lts__t_sectors.sum");
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        if index == 7 {
            fake.submit(9_000, 1_000_000);
        }
    });
    assert_eq!(counts(&readings.expect("they fit")), expected(&kernels));
}

#[test]
fn a_segment_ends_before_an_image_is_full() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 2000];
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("nothing is lost");
    assert_eq!(counts(&readings), expected(&kernels));
    assert!(fake.0.guarded().starts > 3, "{} segments", fake.0.guarded().starts);
}

#[test]
fn bursts_begin_again_by_themselves() {
    let (fake, (group, _)) = (Fake::new(Fault::None), group());
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
        Ok(Vec::new())
    };
    let part = Gather::new(Arc::new(|_, _| {})).part(&sampling.owed);
    let ended = Box::new(|failed: Option<(Lost, &CountersError)>| assert!(failed.is_none(), "{failed:?}"));
    sampling.unit.stop(Some(Closing { work: Box::new(work), part, ended })).expect("stopped");
    let times = receiver.recv().expect("delivered");
    let holes = times.windows(2).filter(|pair| pair[1].0 > pair[0].1).count();
    assert!(times.len() > 1000 && (2..=3).contains(&holes), "{} samples, {holes} holes", times.len());
}

#[test]
fn a_program_that_takes_its_time_fills_no_buffer() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 99); 20];
    let readings = pass(&sampling, &fake, (1, &group), &kernels, &|index| {
        // Far longer than an image lasts, in steps that the thread sees, as it would see time pass.
        while index == 7 && !sampling.unit.is_stopped() {
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
        let readings = pass(&sampling, &fake, (window, &group), &kernels, &|_| {}).expect("nothing is lost");
        assert_eq!(counts(&readings), expected(&kernels));
    }
    assert!(fake.0.guarded().starts < 10, "{} segments", fake.0.guarded().starts);
}

#[test]
fn a_long_kernel_lengthens_the_interval_of_the_next_pass() {
    let (fake, group) = (Fake::new(Fault::None), group());
    let sampling = sampling(&fake);
    let kernels = vec![(3_000, 5), (20_000_000, 1_000_000_007), (3_000, 5)];
    // Too many samples for an image: lost. What came in another segment is not.
    let first = pass(&sampling, &fake, (1, &group), &kernels, &|_| {}).expect("a segment fits");
    assert_eq!(first.iter().map(|reading| reading.dispatch).collect::<Vec<u32>>(), [2]);
    let second = pass(&sampling, &fake, (2, &group), &kernels, &|_| {}).expect("they fit");
    assert_eq!(counts(&second), expected(&kernels));
    let programmed = fake.0.guarded().programmed.clone();
    assert!(programmed.len() == 2 && programmed[1] > programmed[0], "{programmed:?}");
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
