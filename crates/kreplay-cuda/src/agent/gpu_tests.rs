//! How fast the operations are on a GPU: printed as JSON lines, not asserted.

use super::tests::gpu_agent;
use super::*;
use kreplay_engine::{Agent, Chunk, Move, Pair, Range, Tier, Towards};
use std::time::{Duration, Instant};

/// Median time of `work` in ms, settled each time.
fn median(agent: &CudaAgent, runs: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            agent.settle(Instant::now() + Duration::from_secs(20)).expect("settled");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print(bench: &str, bytes: u64, ranges: usize, ms: f64, moved: u64) {
    let gbps = moved as f64 / ms / 1e6;
    println!("{{\"bench\":\"{bench}\",\"bytes\":{bytes},\"ranges\":{ranges},\"ms\":{ms:.4},\"gb_per_s\":{gbps:.0}}}");
}

/// Cuts `bytes` into `ranges` equal parts.
fn parts(bytes: u64, ranges: usize) -> impl Iterator<Item = (u64, u64)> {
    let each = (bytes / ranges as u64) & !255;
    (0..ranges as u64).map(move |at| (at * each, each))
}

#[test]
fn speed_of_the_operations() {
    let Some(agent) = gpu_agent() else { return };
    let chunk = Chunk::DEFAULT;
    for (bytes, ranges) in
        [(1u64 << 20, 1), (64 << 20, 1), (64 << 20, 2000), (1 << 30, 1), (1 << 30, 2000), (4 << 30, 8)]
    {
        let a = agent.allocate(Tier::Device, bytes).expect("there is room");
        let b = agent.allocate(Tier::Device, bytes).expect("there is room");
        let (from, to) = (a.range.base, b.range.base);
        {
            let _entered = agent.enter().expect("the context is there");
            agent.driver().set_words(from, 0x1234_5678, bytes / 4, agent.stream()).expect("set");
        }
        agent.copy(&[Move { to, from, bytes }]).expect("copied");
        let moves: Vec<Move> =
            parts(bytes, ranges.max(3)).map(|(at, bytes)| Move { to: to + at, from: from + at, bytes }).collect();
        let pairs: Vec<Pair> =
            parts(bytes, ranges).map(|(at, bytes)| Pair { memory: from + at, shadow: to + at, bytes }).collect();
        let spans: Vec<Range> = parts(bytes, ranges).map(|(at, bytes)| Range::new(from + at, bytes)).collect();
        let runs = 9;
        print(
            "copy_kernel",
            bytes,
            ranges.max(3),
            median(&agent, runs, || agent.copy(&moves).expect("copied")),
            bytes * 2,
        );
        let one = [Move { to, from, bytes }];
        print("copy_driver", bytes, 1, median(&agent, runs, || agent.copy(&one).expect("copied")), bytes * 2);
        let soon = || Instant::now() + Duration::from_secs(20);
        let ms = median(&agent, runs, || {
            let ticket = agent.compare(&pairs, chunk).expect("asked");
            agent.answer(ticket, soon()).expect("answered");
        });
        print("compare_equal", bytes, ranges, ms, bytes * 2);
        let ms = median(&agent, runs, || {
            let ticket = agent.synchronise(&pairs, chunk, Towards::Shadow).expect("asked");
            agent.answer(ticket, soon()).expect("answered");
        });
        print("synchronise_equal", bytes, ranges, ms, bytes * 2);
        let ms = median(&agent, runs, || {
            let ticket = agent.hash(&spans, chunk).expect("asked");
            agent.answer(ticket, soon()).expect("answered");
        });
        print("hash", bytes, ranges, ms, bytes);
        {
            let _entered = agent.enter().expect("the context is there");
            agent.driver().set_words(to, 0x0bad_f00d, bytes / 4, agent.stream()).expect("set");
        }
        let ms = median(&agent, runs, || {
            let ticket = agent.compare(&pairs, chunk).expect("asked");
            agent.answer(ticket, soon()).expect("answered");
        });
        print("compare_all_different", bytes, ranges, ms, bytes * 2);
        agent.free(a);
        agent.free(b);
    }
    let host = agent.allocate(Tier::Host, 256 << 20).expect("there is room");
    let device = agent.allocate(Tier::Device, 256 << 20).expect("there is room");
    let bytes = 256u64 << 20;
    let out = [Move { to: host.range.base, from: device.range.base, bytes }];
    print("copy_to_host", bytes, 1, median(&agent, 5, || agent.copy(&out).expect("copied")), bytes);
    let pairs = [Pair { memory: device.range.base, shadow: host.range.base, bytes }];
    let ms = median(&agent, 5, || {
        let ticket = agent.compare(&pairs, chunk).expect("asked");
        agent.answer(ticket, Instant::now() + Duration::from_secs(20)).expect("answered");
    });
    print("compare_with_host", bytes, 1, ms, bytes);
    agent.free(host);
    agent.free(device);
}
