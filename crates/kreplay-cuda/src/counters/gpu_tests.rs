//! The Range Profiler on a GPU: the sequence of calls, the values of a kernel whose counts are known to repeat, and what
//! each call costs (printed as JSON lines).

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

#[test]
fn values_repeat_and_steps_are_timed() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    assert_eq!(counters.refused(), None, "counting is permitted");
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    let moves: Vec<Move> = (0..8)
        .map(|at| Move { to: b.range.base + at * (bytes / 8), from: a.range.base + at * (bytes / 8), bytes: bytes / 8 })
        .collect();
    let submit = || {
        agent.copy(&moves).expect("submitted");
        // A copy of many ranges is one launch; it stands for one of the program's.
        agent.note_launch();
    };
    let mut instructions = None;
    for names in [
        vec!["dram__bytes_read.sum"],
        vec!["sm__inst_executed.sum"],
        vec!["l1tex__t_bytes.sum"],
        vec!["basic"],
        vec!["memory"],
        vec!["compute"],
        vec!["roofline"],
    ] {
        let request =
            Request { names: names.iter().map(|name| (*name).to_owned()).collect(), repeat: 1, dispatches: 1 };
        let plan = counters.plan(&request).expect("planned");
        for (round, dispatches) in [1, 1, 1, 50, 50].into_iter().enumerate() {
            let start = Instant::now();
            let (readings, times) = window(&counters, &plan, dispatches, &submit);
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let steps: Vec<String> = times.iter().map(|(step, us)| format!("\"{step}\":{us:.0}")).collect();
            println!(
                "{{\"bench\":\"window\",\"names\":{names:?},\"round\":{round},\"dispatches\":{dispatches},\"passes\":{},\"ms\":{ms:.3},\"us\":{{{}}}}}",
                plan.passes.len(),
                steps.join(",")
            );
            let counted: usize = plan.passes.last().map_or(0, |pass| pass.counters.len());
            assert!(readings.len() >= counted * dispatches as usize, "{} readings", readings.len());
            let executed = values(&readings, "sm__inst_executed.sum");
            for value in executed {
                assert!(value.as_f64() > 1000.0, "{value:?}");
                assert_eq!(*instructions.get_or_insert(value), value, "instruction counts repeat");
            }
            if round == 2 {
                for reading in &readings {
                    println!("  {} = {:?} {} (pass {})", reading.counter, reading.value, reading.unit, reading.pass);
                }
            }
        }
    }
    counters.flush();
    counters.close();
    agent.free(a);
    agent.free(b);
}

/// What is prepared ahead is what the first window needs, and adds nothing to it.
#[test]
fn a_prepared_window_counts_what_any_window_does() {
    let Some(agent) = gpu_agent() else { return };
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    let part = |at| Move { to: b.range.base + at, from: a.range.base + at, bytes: 4096 };
    let three = [part(0), part(8192), part(16_384)];
    let mut instructions = None;
    for (names, sampling) in [("sm__inst_executed.sum", true), ("sm__inst_executed.sum", false), ("basic", true)] {
        let counters = counters_by(&agent, sampling);
        let plan = counters.plan(&Request { names: vec![names.into()], repeat: 1, dispatches: 500 }).expect("planned");
        let start = Instant::now();
        crate::interceptor::AgentCounters::prepare(&*counters, &plan, 200);
        println!(
            "{{\"step\": \"prepare {names}, sampling: {sampling}\", \"ms\": {:.1}}}",
            start.elapsed().as_secs_f64() * 1e3
        );
        for _ in 0..2 {
            let (readings, times) = window(&counters, &plan, 200, &|| {
                agent.copy(&three).expect("submitted");
                agent.note_launch();
            });
            println!("{times:?}");
            let executed = values(&readings, "sm__inst_executed.sum");
            assert_eq!(executed.len(), 200);
            for value in executed {
                assert_eq!(*instructions.get_or_insert(value), value, "{names}, sampling: {sampling}");
            }
        }
    }
    agent.free(a);
    agent.free(b);
}

/// A window that is abandoned in the middle leaves the next one right.
#[test]
fn an_abandoned_window_does_no_harm() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    let bytes = 1u64 << 20;
    let (a, b) =
        (agent.allocate(Tier::Device, bytes).expect("room"), agent.allocate(Tier::Device, bytes).expect("room"));
    // Three moves go to one launch of the copy kernel.
    let part = |at| Move { to: b.range.base + at, from: a.range.base + at, bytes: 4096 };
    let three = [part(0), part(8192), part(16_384)];
    let request = Request { names: vec!["stalls".into()], repeat: 1, dispatches: 1 };
    let plan = counters.plan(&request).expect("planned");
    assert!(plan.passes.len() > 4);
    for stop_after in 0..4 {
        counters.open(&plan, 1).expect("open");
        for pass in plan.passes.iter().take(stop_after) {
            counters.begin(pass).expect("begin");
            counters.before(0).expect("before");
            agent.copy(&three).expect("submitted");
            agent.note_launch();
            counters.after(0).expect("after");
            counters.end().expect("end");
        }
        counters.begin(&plan.passes[stop_after]).expect("begin");
        counters.abandon();
        let (readings, _) = window(&counters, &plan, 1, &|| {
            agent.copy(&three).expect("submitted");
            agent.note_launch();
        });
        // The time, and each ratio once, under the last of its passes.
        assert_eq!(readings.len(), plan.passes[0].counters.len() + plan.passes[1].counters.len());
    }
    counters.close();
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

/// Deterministic counters are the same by sampling as by ranges, on every launch.
#[test]
fn sampling_counts_what_ranges_count() {
    // Enough of them that several portions are decoded between them.
    const LAUNCHES: u32 = 600;
    let Some(agent) = gpu_agent() else { return };
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let requests = [
        (vec!["sm__inst_executed.sum", "lts__t_sectors.sum", "dram__bytes_read.sum"], 1),
        (vec!["l1tex__t_bytes.sum", "l1tex__t_sectors.sum", "sm__cycles_active.sum"], 2),
        (vec!["sm__warps_active.avg.pct_of_peak_sustained_active", "sm__inst_issued.sum"], 0),
        // Told active by another unit than the multiprocessors.
        (vec!["lts__t_sectors.sum", "dram__bytes_read.sum"], 0),
    ];
    let count = |sampling: bool| {
        let counters = counters_by(&agent, sampling);
        let mut all = Vec::new();
        for (names, _) in &requests {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("planned");
            assert_eq!(plan.passes.iter().all(|pass| pass.way == Way::Sampling), sampling);
            // Twice: the first window learns how long the kernels are.
            for round in 0..2 {
                let start = Instant::now();
                let at = std::cell::Cell::new(0);
                let submit = || kinds.submit(at.replace(at.get() + 1));
                let (readings, times) = window(&counters, &plan, LAUNCHES, &submit);
                let steps: Vec<String> = times.iter().map(|(step, us)| format!("\"{step}\":{us:.0}")).collect();
                println!(
                    "{{\"bench\":\"ways\",\"sampling\":{sampling},\"round\":{round},\"launches\":{LAUNCHES},\"ms\":{:.3},\"us\":{{{}}}}}",
                    start.elapsed().as_secs_f64() * 1e3,
                    steps.join(",")
                );
                all.push(readings);
            }
        }
        counters.close();
        all
    };
    let (sampled, ranged) = (count(true), count(false));
    for (at, (names, exact)) in requests.iter().enumerate() {
        for (place, name) in names.iter().enumerate() {
            let of = |all: &[Vec<Reading>], round: usize| values(&all[at * 2 + round], name);
            let (mine, once, again) = (of(&sampled, 1), of(&ranged, 0), of(&ranged, 1));
            assert_eq!(
                (mine.len(), once.len(), again.len()),
                (LAUNCHES as usize, LAUNCHES as usize, LAUNCHES as usize)
            );
            for kind in 0..Kinds::COUNT as usize {
                println!(
                    "{name} kind {kind}: sampling {:?}, ranges {:?} and {:?}",
                    mine[kind], once[kind], again[kind]
                );
            }
            if place >= *exact {
                continue;
            }
            // Of some kinds the work depends on what the launches before them did to memory: ranges do not repeat either.
            let kinds = Kinds::COUNT as usize;
            let repeats = |kind: &usize| {
                let of_kind = |all: &[Value]| all.iter().skip(*kind).step_by(kinds).copied().collect::<Vec<Value>>();
                let (once, again) = (of_kind(&once), of_kind(&again));
                once == again && once.iter().all(|value| *value == once[0])
            };
            let repeating: Vec<usize> = (0..kinds).filter(repeats).collect();
            assert!(repeating.len() >= 7, "{name} repeats for kinds {repeating:?} only");
            for (launch, (mine, theirs)) in mine.iter().zip(&again).enumerate() {
                if repeating.contains(&(launch % kinds)) {
                    assert_eq!(mine, theirs, "{name} of launch {launch}");
                }
            }
        }
    }
    agent.free(a);
    agent.free(b);
}

/// Without fences the true count lies within the bound.
#[test]
fn approximate_counts_keep_their_bound() {
    const LAUNCHES: u32 = 24;
    let Some(agent) = gpu_agent() else { return };
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let count = |fence: bool| {
        let counters = counters_with(&agent, true, fence);
        let names = vec!["sm__inst_executed.sum".to_owned()];
        let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("planned");
        // The program's last launch was on a stream of its own; these are replays, which the counters are told as they begin.
        crate::agent::launching_on(crate::tables::Stream::LEGACY);
        let at = std::cell::Cell::new(0);
        let submit = || kinds.submit(at.replace(at.get() + 1));
        let (readings, _) = window_of(&counters, &plan, LAUNCHES, &submit, true);
        counters.close();
        readings
    };
    let (approximate, exact) = (count(false), count(true));
    assert!(!approximate.is_empty());
    for reading in &approximate {
        let truth = exact.iter().find(|exact| exact.dispatch == reading.dispatch).expect("counted").value.as_f64();
        let (value, bound) = (reading.value.as_f64(), reading.bound.expect("it is approximate"));
        println!("dispatch {}: {truth} is {value} within {bound:.3}", reading.dispatch);
        assert!((value - truth).abs() <= value * bound + 1.0, "dispatch {}", reading.dispatch);
    }
    agent.free(a);
    agent.free(b);
}

/// How long a tiny kernel is said to take: printed, not asserted.
#[test]
fn times_of_a_tiny_kernel() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters(&agent);
    let (a, b) = (agent.allocate(Tier::Device, ROOM).expect("room"), agent.allocate(Tier::Device, ROOM).expect("room"));
    let kinds = Kinds { agent: &agent, a: a.range.base, b: b.range.base };
    let plan = counters.plan(&Request { names: vec!["gpu_time".into()], repeat: 1, dispatches: 64 }).expect("planned");
    for kind in [0, 2] {
        let (readings, _) = window(&counters, &plan, 64, &|| kinds.submit(kind));
        let mut times: Vec<f64> = readings.iter().map(|reading| reading.value.as_f64()).collect();
        times.sort_by(f64::total_cmp);
        assert_eq!(times.len(), 64);
        println!("{{\"bench\":\"gpu_time\",\"kind\":{kind},\"ns\":[{},{},{}]}}", times[0], times[32], times[63]);
    }
    agent.free(a);
    agent.free(b);
}
