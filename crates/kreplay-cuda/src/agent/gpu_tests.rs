//! How fast the operations are on a GPU: printed as JSON lines, which `bench/peers` makes results of; not asserted.

use super::tests::gpu_agent;
use super::*;
use kreplay_engine::{Agent, Chunk, Move, Pair, Range, Ticket, Tier, Towards};
use std::time::{Duration, Instant};

/// Times of one operation, in milliseconds.
struct Times {
    /// On the device: between two events around it.
    device: f64,
    /// Until it was answered, as the host sees it.
    host: f64,
}

/// Median times of what `ask` asks for, answered and settled each time.
fn median(agent: &CudaAgent, runs: usize, mut ask: impl FnMut() -> Option<Ticket>) -> Times {
    let event = || agent.driver().create_event(true).expect("an event");
    let (begin, end) = {
        let _entered = agent.enter().expect("the context is there");
        (event(), event())
    };
    let mark = |event| {
        let _entered = agent.enter().expect("the context is there");
        agent.driver().record_event(event, agent.stream()).expect("recorded");
    };
    let (mut host, mut device) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let start = Instant::now();
        mark(begin);
        let ticket = ask();
        mark(end);
        if let Some(ticket) = ticket {
            agent.answer(ticket, Instant::now() + Duration::from_secs(20)).expect("answered");
        }
        agent.settle(Instant::now() + Duration::from_secs(20)).expect("settled");
        host.push(start.elapsed().as_secs_f64() * 1e3);
        let _entered = agent.enter().expect("the context is there");
        device.push(f64::from(agent.driver().elapsed(begin, end).expect("both are over")));
    }
    let _entered = agent.enter().expect("the context is there");
    for event in [begin, end] {
        agent.driver().destroy_event(event).expect("destroyed");
    }
    for times in [&mut host, &mut device] {
        times.sort_by(f64::total_cmp);
    }
    Times { device: device[runs / 2], host: host[runs / 2] }
}

fn print(bench: &str, bytes: u64, ranges: usize, times: Times, moved: u64) {
    let Times { device, host } = times;
    let gbps = moved as f64 / device / 1e6;
    println!(
        "{{\"bench\":\"{bench}\",\"bytes\":{bytes},\"ranges\":{ranges},\"ms\":{device:.4},\"host_ms\":{host:.4},\"gb_per_s\":{gbps:.0}}}"
    );
}

/// Cuts `bytes` into `ranges` equal parts.
fn parts(bytes: u64, ranges: usize) -> impl Iterator<Item = (u64, u64)> {
    let each = (bytes / ranges as u64) & !255;
    (0..ranges as u64).map(move |at| (at * each, each))
}

/// What memory can move at most: both edges of its clock, over its width.
fn print_peak(agent: &CudaAgent) {
    /// `CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE`, in kHz.
    const CLOCK: i32 = 36;
    /// `CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH`, in bits.
    const WIDTH: i32 = 37;
    let _entered = agent.enter().expect("the context is there");
    let device = agent.driver().current_device().expect("there is one");
    let attribute = |attribute| agent.driver().device_attribute(attribute, device).map(f64::from);
    if let (Ok(clock), Ok(width)) = (attribute(CLOCK), attribute(WIDTH)) {
        println!("{{\"bench\":\"peak\",\"gb_per_s\":{:.0}}}", 2.0 * clock * 1e3 * width / 8.0 / 1e9);
    }
}

#[test]
fn speed_of_the_operations() {
    let Some(agent) = gpu_agent() else { return };
    print_peak(&agent);
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
        let copied = |moves: &[Move]| {
            agent.copy(moves).expect("copied");
            None
        };
        print("copy_kernel", bytes, ranges.max(3), median(&agent, runs, || copied(&moves)), bytes * 2);
        let one = [Move { to, from, bytes }];
        print("copy_driver", bytes, 1, median(&agent, runs, || copied(&one)), bytes * 2);
        let times = median(&agent, runs, || Some(agent.compare(&pairs, chunk).expect("asked")));
        print("compare_equal", bytes, ranges, times, bytes * 2);
        let times = median(&agent, runs, || Some(agent.synchronise(&pairs, chunk, Towards::Shadow).expect("asked")));
        print("synchronise_equal", bytes, ranges, times, bytes * 2);
        let times = median(&agent, runs, || Some(agent.hash(&spans, chunk).expect("asked")));
        print("hash", bytes, ranges, times, bytes);
        {
            let _entered = agent.enter().expect("the context is there");
            agent.driver().set_words(to, 0x0bad_f00d, bytes / 4, agent.stream()).expect("set");
        }
        let times = median(&agent, runs, || Some(agent.compare(&pairs, chunk).expect("asked")));
        print("compare_all_different", bytes, ranges, times, bytes * 2);
        agent.free(a);
        agent.free(b);
    }
    let host = agent.allocate(Tier::Host, 256 << 20).expect("there is room");
    let device = agent.allocate(Tier::Device, 256 << 20).expect("there is room");
    let bytes = 256u64 << 20;
    let out = [Move { to: host.range.base, from: device.range.base, bytes }];
    let times = median(&agent, 5, || {
        agent.copy(&out).expect("copied");
        None
    });
    print("copy_to_host", bytes, 1, times, bytes);
    let pairs = [Pair { memory: device.range.base, shadow: host.range.base, bytes }];
    let times = median(&agent, 5, || Some(agent.compare(&pairs, chunk).expect("asked")));
    print("compare_with_host", bytes, 1, times, bytes);
    agent.free(host);
    agent.free(device);
}
