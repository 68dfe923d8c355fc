//! Sampling over a device of the test's.

mod attributing;
mod decoding;
mod fake;
mod lasting;
mod programming;
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
