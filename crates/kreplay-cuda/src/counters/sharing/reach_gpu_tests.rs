//! Whose work ranges count, on a GPU.

use super::reach::Reach;
use crate::agent::CudaAgent;
use crate::agent::tests::{gpu_agent, soon};
use crate::counters::CudaCounters;
use crate::counters::gpu_tests::counters_by;
use crate::counters::ranges::Ranges;
use crate::counters::ranges::evaluate::evaluate;
use crate::tables::{Context, Driver};
use kreplay_engine::{Agent, AgentId, Counters, Move, Request, Tier, Value};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NAMES: [&str; 3] = ["sm__inst_executed.sum", "sm__warps_launched.sum", "sm__inst_executed_pipe_lsu.sum"];
const LAUNCHES: u32 = 6;

/// Copies that take some milliseconds, longer than contexts take turns, each by one launch.
struct Copies<'a> {
    agent: &'a CudaAgent,
    moves: Vec<Move>,
}

impl<'a> Copies<'a> {
    fn of(agent: &'a CudaAgent) -> Self {
        // Larger parts are copied by the driver.
        const PART: u64 = 3 << 20;
        let [to, from] = [(); 2].map(|()| agent.allocate(Tier::Device, PART).expect("room").range.base);
        Self { agent, moves: vec![Move { to, from, bytes: PART }; 8000] }
    }

    fn submit(&self) {
        self.agent.copy(&self.moves).expect("submitted");
        self.agent.note_launch();
    }

    fn wait(&self) {
        self.agent.wait_every_stream(soon(), "the copies").expect("they end");
    }
}

/// The values of each launch, by name.
fn count(counters: &CudaCounters, copies: &Copies<'_>, reach: Reach) -> Vec<Vec<Value>> {
    let names = NAMES.map(String::from).to_vec();
    let plan = counters.plan(&Request { names, repeat: 1, dispatches: LAUNCHES }).expect("it can be planned");
    let mut window = Ranges::open(counters.planned(&plan).expect("it was planned"), LAUNCHES);
    for pass in &plan.passes {
        let begun = counters.ranges.begin(&mut window, pass.index, reach).expect("it begins");
        for index in 0..LAUNCHES {
            counters.ranges.before(&mut window, &begun, index);
            copies.submit();
        }
        copies.wait();
        counters.ranges.end(&mut window, &begun).expect("it ends");
    }
    assert_eq!(Ranges::is_wide(&window), reach == Reach::Device);
    let counted = counters.ranges.collect(window).expect("something was counted");
    let found = &counters.availability;
    let mut values = vec![Vec::new(); LAUNCHES as usize];
    for image in &counted.images {
        let mut readings = Vec::new();
        let ranges = (&*counted.order, counted.launches);
        evaluate(&counters.cupti, &found.chip, &found.image, &mut HashMap::new(), image, ranges, &mut readings)
            .expect("each launch is a range");
        readings.into_iter().for_each(|reading| values[reading.dispatch as usize].push(reading.value));
    }
    values
}

/// Another context of the first GPU; it stays.
fn another_context() -> CudaAgent {
    type Create = unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> i32;
    let mut made = std::ptr::null_mut();
    // SAFETY: the driver is loaded, and its function has had this signature since CUDA 3.2.
    let status = unsafe {
        let library = libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        let create = std::mem::transmute::<*mut c_void, Create>(libc::dlsym(library, c"cuCtxCreate_v2".as_ptr()));
        create(&mut made, 0, 0)
    };
    assert_eq!(status, 0, "there is another context");
    let driver = Arc::new(Driver::load().expect("it is loaded"));
    // It is this thread's now, and the agents find theirs by themselves.
    driver.pop_context().expect("it was pushed");
    CudaAgent::new(driver, Context(made), AgentId(2), "GH100").expect("it makes an agent")
}

/// Alone the device is the context. Beside another one it is more, and the context counts what it did; a session that counted the
/// device does not go on where the context is to be counted.
#[test]
fn the_device_is_counted_or_the_context_whatever_runs_beside_it() {
    let Some(agent) = gpu_agent() else { return };
    let counters = counters_by(&agent, false);
    let copies = Copies::of(&agent);
    let own = count(&counters, &copies, Reach::Context);
    assert!(own.iter().all(|values| *values == own[0] && !values.is_empty()), "{own:?}");
    counters.ranges.end_session();
    assert_eq!(count(&counters, &copies, Reach::Device), own);
    let other = another_context();
    let others = Copies::of(&other);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                others.submit();
                others.wait();
            }
        });
        let counted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            [Reach::Device, Reach::Context].map(|reach| count(&counters, &copies, reach))
        }));
        over.store(true, Ordering::Relaxed);
        let [device, context] = counted.expect("it counts");
        assert_ne!(device, own, "the other one's work is counted too");
        assert!(context.iter().zip(&own).all(|(found, own)| is_own(found, own)), "{context:?} is not {own:?}");
    });
}

/// Whether a launch that shared the GPU has the values that it has alone. Each time that its context had to stop for the other one and
/// go on, some thousand instructions more were executed, 0.001 % of these; no warp more, and no load or store.
fn is_own(found: &[Value], own: &[Value]) -> bool {
    let (Value::Count(found_first), Value::Count(own_first)) = (found[0], own[0]) else { return false };
    (own_first..own_first + own_first / 10_000).contains(&found_first) && found[1..] == own[1..]
}
