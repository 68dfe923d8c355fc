//! Counting without fences: on which stream it is told when a dispatch ran.

use super::*;
use crate::agent::launching_on;
use crate::agent::tests::fake_agent;
use crate::counters::device::Availability;
use crate::counters::planning::names::EVENT_TIME;
use crate::counters::planning::plan::{Planned, Sampled};
use crate::counters::ranges::Ranges;
use crate::counters::seam::{Conduct, CudaCounters};
use crate::counters::sharing::lock;
use crate::counters::ways::Window;
use crate::fake;
use crate::tables::Stream;
use kreplay_engine::{Counters, Plan, PlannedPass, Way};
use std::os::fd::AsRawFd;

/// Counters that sample without fences, with a window of a sampled pass that has not begun.
fn open() -> (CudaCounters, PlannedPass) {
    let availability = Availability {
        chip: "GH100".into(),
        image: Arc::new([]),
        refused: None,
        sampling: Err("a device of the test's is sampled".into()),
    };
    let deadline = Duration::from_secs(20);
    let conduct = Conduct { flush_cache: false, fence: false, pass_deadline: deadline, lock_deadline: deadline };
    let cupti = Arc::new(fake::fake_cupti());
    let mut counters = CudaCounters::new(cupti, fake_agent(), availability, conduct, Arc::new(|_, _| {}))
        .expect("the lock can be had");
    counters.sampling = Some(Arc::new(sampling(&Fake::new(Fault::None))));
    let (group, mut reported) = group();
    let time = PlannedCounter { name: EVENT_TIME.into(), block: "".into(), unit: "ns".into() };
    reported = reported.iter().cloned().chain([time]).collect();
    let pass = PlannedPass { index: 0, counters: reported.to_vec(), way: Way::Sampling, price: Duration::ZERO };
    let planned = Arc::new(Planned {
        plan: Plan { passes: vec![pass.clone()] },
        instances: Vec::new(),
        sampled: vec![Sampled { group, counters: reported, pass: 0 }],
    });
    counters.state.guarded().window = Some(Window {
        ranges: Ranges::open(Arc::clone(&planned), 4),
        planned,
        dispatches: 4,
        number: 1,
        gather: Gather::default(),
        // Nobody else's window is in the way.
        locked: true,
        reach: None,
        beside: None,
        disturbed: false,
        replayed: false,
        current: None,
        readings: Vec::new(),
    });
    (counters, pass)
}

#[test]
fn replays_are_timed_on_the_agents_stream_and_the_programs_launches_on_theirs() {
    let program = Stream(0x5151_0000 as *mut std::ffi::c_void);
    for replays in [false, true] {
        let (counters, pass) = open();
        let own = counters.agent.stream();
        // The program's last launch, or the one that follows.
        launching_on(program);
        if replays {
            counters.replays(1);
        }
        counters.begin(&pass).expect("begun");
        let before = [own, program].map(fake::events_on);
        counters.before(0).expect("told");
        counters.after(0).expect("told");
        let [on_own, on_program] = [fake::events_on(own) - before[0], fake::events_on(program) - before[1]];
        assert_eq!((on_own, on_program), if replays { (2, 0) } else { (0, 2) });
        counters.abandon();
    }
}

#[test]
fn who_came_costs_a_window_its_samples_though_nothing_is_sampled_any_more() {
    let (counters, _) = open();
    let window = counters.state.guarded().window.take().expect("it is open");
    let file = lock::open(&lock::path(counters.agent.uuid(), "processes")).expect("the counters have made it");
    // SAFETY: the file is open.
    assert_eq!(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH) }, 0);
    // What was sampled before did not fit.
    counters.sampling().expect("it samples").give_up("samples are missing".into());
    assert_eq!(counters.disturbed(&window).map(|(passes, _)| passes), Some(vec![0]));
    drop(file);
    assert!(counters.disturbed(&window).is_some(), "he was there, and may have gone");
}

#[test]
fn times_are_as_fine_late_in_a_long_window_as_early() {
    let (counters, pass) = open();
    counters.begin(&pass).expect("begun");
    let lengths = [1_792, 4_064, 2_400];
    for (index, length) in (0..).zip(lengths) {
        fake::pass_time(600_000_000_000);
        counters.before(index).expect("told");
        fake::pass_time(length);
        counters.after(index).expect("told");
    }
    counters.end().expect("ended");
    let window = counters.state.guarded().window.take().expect("it is open");
    let (sender, receiver) = channel();
    window.gather.close(Box::new(move |delivery| sender.send(delivery).expect("the test waits")));
    let found: Delivery = receiver.recv().expect("delivered");
    let times: Vec<u64> = found.readings.iter().filter(|reading| &*reading.counter == EVENT_TIME).map(whole).collect();
    assert_eq!(times, lengths);
}

/// A time to the nanosecond.
fn whole(reading: &Reading) -> u64 {
    match reading.value {
        Value::Real(time) => time.round() as u64,
        Value::Count(time) => time,
    }
}
