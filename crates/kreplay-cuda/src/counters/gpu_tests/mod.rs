//! The Range Profiler on a GPU: the sequence of calls, the values of a kernel whose counts are known to repeat, and what
//! each call costs (printed as JSON lines).

mod sampling;
mod windows;

use super::*;
use crate::agent::CudaAgent;
use crate::agent::tests::gpu_agent;
use crate::tables::{Cupti, Environment, find_cupti};
use kreplay_engine::{Agent, Chunk, Counters, Move, Pair, Plan, Range, Reading, Request, Tier, Value, Way};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Counters that give the hardware back whatever becomes of the test: sessions are the process's.
pub(super) struct Counting(CudaCounters);

impl std::ops::Deref for Counting {
    type Target = CudaCounters;
    fn deref(&self) -> &CudaCounters {
        &self.0
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.0.abandon();
        self.0.close();
    }
}

fn counters(agent: &CudaAgent) -> Counting {
    counters_by(agent, true)
}

/// Counters that sample where the planner likes, or that only use ranges.
pub(super) fn counters_by(agent: &CudaAgent, sampling: bool) -> Counting {
    counters_with(agent, sampling, true)
}

fn counters_with(agent: &CudaAgent, sampling: bool, fence: bool) -> Counting {
    let found = find_cupti(&Environment::of_process()).expect("a machine with a GPU has CUPTI");
    let cupti = Arc::new(Cupti::load(&found).expect("it has every function"));
    println!("CUPTI {} at {}", cupti.version().expect("a version"), cupti.path().display());
    let mut availability = {
        let _entered = agent.enter().expect("the context is there");
        availability(&cupti, (agent.device(), agent.uuid()), agent.context(), Duration::from_secs(20))
    };
    println!("chip {}, refused: {:?}", availability.chip, availability.refused);
    if let Err(why) = &availability.sampling {
        println!("no sampling: {why}");
    }
    if !sampling {
        availability.sampling = Err("this test counts by ranges".into());
    }
    let conduct = Conduct {
        flush_cache: false,
        fence,
        pass_deadline: Duration::from_secs(20),
        lock_deadline: Duration::from_secs(20),
    };
    let warn = Arc::new(|key: &'static str, text: String| println!("{key}: {text}"));
    Counting(CudaCounters::new(cupti, agent.clone(), availability, conduct, warn).expect("the lock can be had"))
}

/// Runs a window of `dispatches` equal dispatches; gives the readings and the times of its steps in µs.
fn window(
    counters: &CudaCounters,
    plan: &Plan,
    dispatches: u32,
    submit: &dyn Fn(),
) -> (Vec<Reading>, Vec<(&'static str, f64)>) {
    window_of(counters, plan, dispatches, submit, false)
}

/// As [`window`], of `replays` or not.
fn window_of(
    counters: &CudaCounters,
    plan: &Plan,
    dispatches: u32,
    submit: &dyn Fn(),
    replays: bool,
) -> (Vec<Reading>, Vec<(&'static str, f64)>) {
    let mut times: Vec<(&'static str, f64)> =
        ["open", "begin", "before", "submit", "after", "end", "collect", "deliver"].map(|step| (step, 0.0)).to_vec();
    let mut timed = |step: usize, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        times[step].1 += start.elapsed().as_secs_f64() * 1e6;
    };
    timed(0, &mut || counters.open(plan, dispatches).expect("open"));
    if replays {
        counters.replays(dispatches);
    }
    for pass in &plan.passes {
        timed(1, &mut || counters.begin(pass).expect("begin"));
        for index in 0..dispatches {
            timed(2, &mut || counters.before(index).expect("before"));
            timed(3, &mut || submit());
            timed(4, &mut || counters.after(index).expect("after"));
        }
        timed(5, &mut || counters.end().expect("end"));
    }
    let (sender, receiver) = channel();
    let mut sender = Some(sender);
    timed(6, &mut || {
        let sender = sender.take().expect("once");
        counters.collect(Box::new(move |readings| sender.send(readings).expect("the test waits")));
    });
    let mut readings = Vec::new();
    timed(7, &mut || readings = receiver.recv().expect("delivered").whole().expect("values"));
    (readings, times)
}

fn values(readings: &[Reading], name: &str) -> Vec<Value> {
    readings.iter().filter(|reading| &*reading.counter == name).map(|reading| reading.value).collect()
}

/// Kernels of several kinds and lengths: few blocks and many, that copy, compare and read. Each is one launch.
struct Kinds<'a> {
    agent: &'a CudaAgent,
    a: u64,
    b: u64,
}

/// Bytes that [`Kinds`] works in, on each side.
const ROOM: u64 = 1 << 30;

impl Kinds<'_> {
    const COUNT: u32 = 8;

    fn submit(&self, kind: u32) {
        let Self { agent, a, b } = *self;
        let copy = |bytes: u64, count: u64| {
            let step = (bytes * 2).next_multiple_of(4096);
            let moves: Vec<Move> =
                (0..count).map(|at| Move { to: b + at * step, from: a + at * step, bytes }).collect();
            agent.copy(&moves).expect("submitted");
        };
        let pair = |bytes: u64| Pair { memory: a, shadow: b, bytes };
        let answer = |ticket| drop(agent.answer(ticket, Instant::now() + Duration::from_secs(20)).expect("answered"));
        match kind % Self::COUNT {
            0 => copy(64, 3),
            1 => copy(64 << 10, 3),
            2 => copy(1 << 20, 5),
            3 => copy(3 << 20, 40),
            4 => answer(agent.compare(&[pair(1 << 20)], Chunk::DEFAULT).expect("asked")),
            // Larger answers would be cleared by a kernel of the driver's, which is no range.
            5 => copy(2 << 20, 250),
            6 => answer(agent.hash(&[Range::new(a, 64 << 10)], Chunk::DEFAULT).expect("asked")),
            _ => copy(3 << 20, 170),
        }
        agent.note_launch();
    }
}
