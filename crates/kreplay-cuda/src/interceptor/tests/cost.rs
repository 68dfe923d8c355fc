//! What a launch costs the program's thread between *enter* and *exit*, beside what the driver takes: printed, not asserted.

use super::*;
use crate::agent::tests::gpu_agent;
use kreplay_engine::BatchLimits;
use kreplay_session::NameFilter;
use std::time::{Duration, Instant};

/// Launches that are timed together: few enough for any batch window.
const CHUNK: u32 = 40;

/// Times that so many are timed; the median is told.
const CHUNKS: usize = 400;

/// What is gone through between two launches that find their caches cold: about what a core has for itself.
const SWEPT: usize = 2 << 20;

const NAMES: [&CStr; 2] = [c"interesting_cost", c"boring_cost"];

/// Two kernels that do nothing, by these names.
const PTX: &CStr = c".version 7.0
.target sm_70
.address_size 64
.visible .entry interesting_cost(.param .u64 data) { ret; }
.visible .entry boring_cost(.param .u64 data) { ret; }
";

fn median(mut samples: Vec<Duration>) -> u128 {
    samples.sort();
    samples[samples.len() / 2].as_nanos()
}

/// A program with a kernel that is selected, and one that is not.
struct Launcher {
    program: Program,
    functions: [Function; 2],
    data: u64,
}

impl Launcher {
    fn new(driver: Arc<Driver>, context: Context, functions: [Function; 2], batches: bool) -> Self {
        let pattern = kreplay_protocol::Filters { exclude: Some("boring".into()), ..Default::default() };
        let filter = NameFilter::new(&pattern, Arc::new(AtomicBool::new(true))).expect("a pattern");
        let limits = BatchLimits { time: Duration::MAX, ..BatchLimits::default() };
        let settings = Settings { batch: limits, ..Program::settings(3, batches, Request::default()) };
        let program = Program::on(driver, context, settings, Arc::new(filter), Box::new(|_| None));
        let data = program.allocate(4096);
        Self { program, functions, data }
    }

    fn engine(&self) -> Option<Arc<kreplay_engine::Engine<CudaAgent>>> {
        self.program.interceptor.context(self.program.context).driven().map(|driven| Arc::clone(&driven.engine))
    }

    /// Launches the selected kernel, or the other, so often. Without `seen` there are no callbacks.
    fn launch(&self, which: usize, count: u32, seen: bool, body: &dyn Fn(&LaunchKernelParams)) {
        let mut argument = self.data;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        let parameters = one_block(self.functions[which], Stream::NULL, &mut arguments);
        for _ in 0..count {
            if !seen {
                body(&parameters);
                continue;
            }
            self.program.named_call(cbid::LAUNCH_KERNEL, NAMES[which], &parameters, || {
                body(&parameters);
                0
            });
        }
    }

    /// A fresh batch window, which is open and has room.
    fn window(&self, body: &dyn Fn(&LaunchKernelParams)) {
        self.engine().into_iter().for_each(|engine| engine.close_window());
        self.launch(0, 1, true, body);
        self.launch(1, 1, true, body);
    }
}

fn print(line: &str, launcher: &Launcher, which: usize, window: bool, body: &dyn Fn(&LaunchKernelParams)) {
    let timed = |count, seen| {
        // So that no launch waits for room in a queue, whatever it costs.
        launcher.program.interceptor.driver.synchronise_context().expect("the context is well");
        let start = Instant::now();
        launcher.launch(which, count, seen, body);
        start.elapsed() / count
    };
    let prepare = || {
        if window {
            launcher.window(body)
        }
    };
    let (mut plain, mut warm, mut cold) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CHUNKS {
        plain.push(timed(CHUNK, false));
        prepare();
        warm.push(timed(CHUNK, true));
    }
    let mut swept = vec![1u8; SWEPT];
    for _ in 0..CHUNKS / 40 {
        prepare();
        for _ in 0..CHUNK {
            swept.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_mul(3));
            std::hint::black_box(&mut swept);
            cold.push(timed(1, true));
        }
    }
    let [plain, warm, cold] = [plain, warm, cold].map(median);
    println!("{line:28} {plain:5} ns unseen, {warm:5} ns seen, {cold:5} ns after a sweep of the caches");
}

fn print_all(launcher: impl Fn(bool) -> Launcher, body: &dyn Fn(&LaunchKernelParams)) {
    let alone = launcher(false);
    print("not selected, no engine", &alone, 1, false, body);
    alone.launch(0, 1, true, body);
    print("not selected, no window", &alone, 1, false, body);
    drop(alone);
    let batched = launcher(true);
    print("not selected, batch window", &batched, 1, true, body);
    print("recorded in a batch window", &batched, 0, true, body);
}

#[test]
#[ignore = "a measurement: cargo test --release -p kreplay-cuda cost_of_a_launch -- --ignored --nocapture --test-threads 1"]
fn cost_of_a_launch() {
    let functions = ["interesting_cost", "boring_cost"].map(increment);
    print_all(|batches| Launcher::new(fake_driver(), Program::fresh_context(), functions, batches), &|_| {});
}

/// The same around real launches, without CUPTI: what is ours of what a launch costs more under kreplay.
#[test]
fn cost_of_a_launch_on_a_gpu() {
    let Some(agent) = gpu_agent() else { return };
    let driver = Arc::new(Driver::load().expect("there is one"));
    driver.push_context(agent.context()).expect("it is live");
    let module = driver.load_module(PTX).expect("it is compiled");
    let functions = NAMES.map(|name| driver.module_function(module, name).expect("it is there"));
    let launch = |p: &LaunchKernelParams| {
        let config = LaunchConfig {
            grid: p.grid,
            block: p.block,
            shared: p.shared,
            stream: p.stream,
            attributes: std::ptr::null(),
            attribute_count: 0,
        };
        driver.launch(&config, p.function, p.arguments, p.extra).expect("it is launched");
    };
    print_all(|batches| Launcher::new(Arc::clone(&driver), agent.context(), functions, batches), &launch);
    driver.pop_context().expect("it is current");
}
