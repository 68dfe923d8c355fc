//! What a launch costs the program's thread between *enter* and *exit*: a measurement, printed.

use super::*;
use kreplay_engine::BatchLimits;
use kreplay_session::NameFilter;
use std::time::{Duration, Instant};

/// Launches that are timed together: few enough for any batch window.
const CHUNK: u32 = 40;

/// Samples of that many; the median is told.
const CHUNKS: usize = 400;

/// What is looked through between two launches that find the caches cold: more than a core has of its own.
const SWEPT: usize = 6 << 20;

/// Medians, in nanoseconds.
struct Cost {
    /// With everything at hand.
    warm: u128,
    /// With the core's own caches full of something else: worse than behind any driver.
    cold: u128,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:5} ns warm {:6} ns cold", self.warm, self.cold)
    }
}

fn median(mut samples: Vec<Duration>) -> u128 {
    samples.sort();
    samples[samples.len() / 2].as_nanos()
}

impl Program {
    /// What a launch costs that does nothing but be called. `before` each few.
    fn cost<P>(&self, symbol: &CStr, parameters: &P, mut before: impl FnMut()) -> Cost {
        let warm = (0..CHUNKS).map(|_| {
            before();
            let start = Instant::now();
            (0..CHUNK).for_each(|_| self.quiet_call(cbid::LAUNCH_KERNEL, symbol, parameters));
            start.elapsed() / CHUNK
        });
        let warm = median(warm.collect());
        let (mut swept, mut cold) = (vec![1u8; SWEPT], Vec::new());
        for _ in 0..CHUNKS / 40 {
            before();
            for _ in 0..CHUNK {
                swept.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_mul(3));
                std::hint::black_box(&mut swept);
                let start = Instant::now();
                self.quiet_call(cbid::LAUNCH_KERNEL, symbol, parameters);
                cold.push(start.elapsed());
            }
        }
        Cost { warm, cold: median(cold) }
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p kreplay-cuda cost -- --ignored --nocapture --test-threads 1"]
fn cost_of_a_launch() {
    let pattern = kreplay_protocol::Filters { exclude: Some("boring".into()), ..Default::default() };
    let filter = || Arc::new(NameFilter::new(&pattern, Arc::new(AtomicBool::new(true))).expect("a pattern"));
    let program = |batches| {
        let limits = BatchLimits { time: Duration::MAX, ..BatchLimits::default() };
        let settings = Settings { batch: limits, ..Program::settings(3, batches, Request::default()) };
        Program::made(settings, filter(), Box::new(|_| None))
    };
    let (wanted, boring) = (increment("interesting_cost"), increment("boring_cost"));
    let names = [c"interesting_cost", c"boring_cost"];
    let cost = |program: &Program, data: u64, selected: bool, window: bool| {
        let mut argument = data;
        let (mut one, mut other) = ([(&raw mut argument).cast::<c_void>()], [(&raw mut argument).cast::<c_void>()]);
        let wanted = one_block(wanted, Stream::NULL, &mut one);
        let boring = one_block(boring, Stream::NULL, &mut other);
        let engine = || program.interceptor.context(program.context).driven().map(|driven| Arc::clone(&driven.engine));
        let before = || {
            if window {
                // A fresh window, which is open and has room.
                engine().into_iter().for_each(|engine| engine.close_window());
                program.quiet_call(cbid::LAUNCH_KERNEL, names[0], &wanted);
                program.quiet_call(cbid::LAUNCH_KERNEL, names[1], &boring);
            }
        };
        match selected {
            true => program.cost(names[0], &wanted, before),
            false => program.cost(names[1], &boring, before),
        }
    };
    let alone = program(false);
    let data = alone.allocate(4096);
    println!("not selected, no engine:      {}", cost(&alone, data, false, false));
    alone.launch(wanted, "interesting_cost", data, Stream::NULL, 0);
    println!("not selected, no window:      {}", cost(&alone, data, false, false));
    let batched = program(true);
    let data = batched.allocate(4096);
    println!("not selected, batch window:   {}", cost(&batched, data, false, true));
    println!("recorded in a batch window:   {}", cost(&batched, data, true, true));
}
