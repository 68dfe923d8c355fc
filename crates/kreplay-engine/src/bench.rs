//! What `kreplay bench engine` and `kreplay bench staging` measure, one sample a call. Everything runs on the in-memory
//! agent, which does what it is asked at once: the figures are the engine's own work and this host's memory, never a
//! device's.

use crate::conformance::Log;
use crate::lock::lock;
use crate::memory_agent::{MemoryAgent, Work};
use crate::staging::Staging;
use crate::window::WindowCost;
use crate::{
    AgentId, Arguments, BatchLimits, ByPlan, Decision, DispatchInfo, DispatchRecord, Engine, EveryKernel, Filter,
    Geometry, KernelInfo, LastPass, PlanError, Process, Range, Region, RegionKind, Settings, Traits, WindowMode,
    Writers,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One snapshot's host storage, had in three ways. Nothing is copied into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagingCycle {
    /// Size of the storage.
    pub bytes: u64,
    /// A vector made, zero-filled and dropped for each snapshot.
    pub zeroed: Duration,
    /// Acquired from an empty pool and freed: allocated, and every page touched as pinning would.
    pub fresh: Duration,
    /// Acquired from a pool that retains it, and given back.
    pub retained: Duration,
}

/// Measures one cycle of each kind. It needs `bytes` bytes of host memory, once at a time.
///
/// # Panics
/// When there is no room for it.
#[expect(clippy::slow_vector_initialization, reason = "the slow way is what is measured")]
pub fn staging_cycle(bytes: u64) -> StagingCycle {
    let time = |cycle: &dyn Fn()| {
        let start = Instant::now();
        cycle();
        start.elapsed()
    };
    let zeroed = time(&|| {
        let mut storage: Vec<u8> = Vec::new();
        storage.resize(bytes as usize, 0);
        black_box(storage.as_slice());
    });
    let agent = AgentId(0);
    let staging = Staging::new(u64::MAX);
    staging.open(agent, MemoryAgent::builder(0).build());
    let acquire = || drop(black_box(staging.acquire(agent, bytes).expect("room for the benchmark's storage")));
    let fresh = time(&|| {
        acquire();
        staging.trim(agent);
    });
    acquire();
    let retained = time(&acquire);
    staging.trim(agent);
    StagingCycle { bytes, zeroed, fresh, retained }
}

/// A program for [`window_overhead`].
#[derive(Clone, Debug)]
pub struct Load {
    /// Bytes that live in device memory.
    pub footprint: u64,
    /// In how many regions.
    pub regions: u32,
    /// Bytes that the kernel changes, from the start of the first region.
    pub write_set: u64,
    /// Windows to run; the first few are left out of the figures. For [`batch_overhead`] dispatches in the one window.
    pub windows: u32,
    /// How the engine works; passes are [`Settings::uncounted_passes`].
    pub settings: Settings,
}

/// What kernel windows cost.
#[derive(Clone, Debug)]
pub struct KernelWindowCost {
    /// Median time that a window takes from the program, its passes included.
    pub window: Duration,
    /// Of this, what the engine spends itself: the rest is the agent's copying, comparing and running.
    pub engine: Duration,
    /// The last window's record: bytes and phases.
    pub record: DispatchRecord,
}

/// Windows left out of the figures.
const WARM_UP: usize = 3;

/// Runs windows of a kernel in place and tells their median cost.
///
/// # Errors
/// When the settings' request cannot be planned; leave it empty.
///
/// # Panics
/// When the load has no regions, or a window is not replayed.
pub fn window_overhead(load: &Load) -> Result<KernelWindowCost, PlanError> {
    let settings = Settings { device_reserve: 0, ..load.settings.clone() };
    let Program { agent, log, engine, work } = Program::new(load, settings, Arc::new(EveryKernel))?;
    let info = info();
    let mut samples = Vec::new();
    for _ in 0..load.windows.max(1) as usize + WARM_UP {
        let (start, busy) = (Instant::now(), agent.busy());
        let Decision::Window(mut window) = engine.dispatch(&info, || Ok(work.clone())) else {
            panic!("a window declined: {:?}", log.last_dispatch().outcome);
        };
        window.run_until_last();
        agent.program_launch(0, &work);
        window.close(LastPass::Submitted);
        let time = start.elapsed();
        samples.push((time, time.saturating_sub(agent.busy() - busy)));
    }
    samples.drain(..WARM_UP);
    let median = |pick: fn(&(Duration, Duration)) -> Duration| {
        let mut times: Vec<Duration> = samples.iter().map(pick).collect();
        times.sort();
        times[times.len() / 2]
    };
    Ok(KernelWindowCost { window: median(|s| s.0), engine: median(|s| s.1), record: log.last_dispatch() })
}

/// What a launch that is not selected costs: the mean of `launches`.
///
/// # Errors
/// Never with the settings it uses.
pub fn unselected_launch(launches: u32) -> Result<Duration, PlanError> {
    struct Nothing;
    impl Filter for Nothing {
        fn select(&self, kernel: &KernelInfo) -> bool {
            black_box(kernel.key) == u64::MAX
        }
    }
    let agent = MemoryAgent::builder(0).build();
    let process = Process::new(Settings::default(), Arc::new(Nothing), Arc::new(ByPlan), Log::new());
    let engine = Engine::new(agent, None, process)?;
    let info = info();
    let start = Instant::now();
    for _ in 0..launches.max(1) {
        drop(black_box(engine.dispatch(&info, || Err(crate::Decline::UnknownArguments))));
    }
    Ok(start.elapsed() / launches.max(1))
}

/// What a batch window costs a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct BatchCost {
    /// Mean time that recording adds to a launch of the program.
    pub recorded: Duration,
    /// The same, of a launch that is not selected and recorded all the same.
    pub unselected: Duration,
    /// Time that closing the window takes, its passes included, divided by its dispatches.
    pub closing: Duration,
    /// Of this, what the engine spends itself.
    pub engine: Duration,
}

/// Fills one window with as many dispatches, and as many launches that are not selected, as `load.windows` says, and
/// replays it. The first of them is a kernel in place, the others do nothing.
///
/// # Errors
/// When the settings' request cannot be planned; leave it empty.
///
/// # Panics
/// When the load has no regions, or the window is not replayed.
pub fn batch_overhead(load: &Load) -> Result<BatchCost, PlanError> {
    struct Even;
    impl Filter for Even {
        fn select(&self, kernel: &KernelInfo) -> bool {
            kernel.key.is_multiple_of(2)
        }
    }
    let limits = BatchLimits { dispatches: u32::MAX, entries: u32::MAX, bytes: u64::MAX, time: Duration::MAX };
    let settings = Settings { device_reserve: 0, window: WindowMode::Batch, batch: limits, ..load.settings.clone() };
    let Program { agent, log, engine, work: in_place } = Program::new(load, settings, Arc::new(Even))?;
    // A first window is short, since nothing is known of its cost. Here it is.
    let dear = WindowCost { dispatches: u32::MAX, memory: Duration::from_secs(1), ..WindowCost::default() };
    lock(&engine.length).learn(&dear);
    let nothing = Work::new(|_| {});
    let launch = |info: &DispatchInfo, work: &Work| {
        let Decision::Recorded(guard) = engine.dispatch(info, || Ok(work.clone())) else {
            panic!("it is not recorded");
        };
        guard
    };
    let named = |key| DispatchInfo { kernel: KernelInfo { key, ..info().kernel }, ..info() };
    let (selected, other) = (named(2), named(3));
    let launches = load.windows.max(2);
    let guard = launch(&selected, &in_place);
    agent.program_launch(0, &in_place);
    drop(guard);
    let mean = |info: &DispatchInfo, count: u32| {
        let start = Instant::now();
        (0..count).for_each(|_| drop(black_box(launch(info, &nothing))));
        start.elapsed() / count
    };
    let recorded = mean(&selected, launches - 1);
    let unselected = mean(&other, launches);
    let (start, busy) = (Instant::now(), agent.busy());
    engine.close_window();
    let time = start.elapsed();
    assert!(log.windows()[0].dispatches == launches && log.last_dispatch().outcome == crate::Outcome::Replayed);
    let engine = time.saturating_sub(agent.busy() - busy) / launches;
    Ok(BatchCost { recorded, unselected, closing: time / launches, engine })
}

/// A program that holds the memory of a load, and its kernel.
struct Program {
    agent: Arc<MemoryAgent>,
    log: Arc<Log>,
    engine: Arc<Engine<MemoryAgent>>,
    /// Changes the load's write set in place.
    work: Work,
}

impl Program {
    fn new(load: &Load, settings: Settings, filter: Arc<dyn Filter>) -> Result<Self, PlanError> {
        let agent = MemoryAgent::builder(0).eager().unpoisoned().build();
        let log = Log::new();
        let process = Process::new(settings, filter, Arc::new(ByPlan), log.clone());
        let engine = Engine::new(Arc::clone(&agent), None, process)?;
        let size = (load.footprint / u64::from(load.regions)).max(4);
        let bases: Vec<u64> = (0..load.regions).map(|_| agent.program_allocate(size)).collect();
        for base in &bases {
            let range = Range::new(*base, size);
            engine.region_born(Region { range, kind: RegionKind::Device, writers: Writers::Seen });
        }
        let written = Range::new(bases[0], load.write_set.min(size));
        let work =
            Work::new(move |memory| memory.bytes_mut(written).iter_mut().for_each(|byte| *byte = byte.wrapping_add(1)));
        Ok(Self { agent, log, engine, work })
    }
}

fn info() -> DispatchInfo {
    DispatchInfo {
        kernel: KernelInfo { key: 1, name: "bench".into() },
        geometry: Geometry::default(),
        stream: 0,
        arguments: Arguments::Size(16),
        traits: Traits::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RestoreMode;

    #[test]
    fn the_figures_are_of_windows_that_were_replayed() {
        let load = |restore| Load {
            footprint: 1 << 20,
            regions: 4,
            write_set: 8192,
            windows: 3,
            settings: Settings { restore, uncounted_passes: 5, ..Settings::default() },
        };
        let observed = window_overhead(&load(RestoreMode::Observed)).unwrap();
        assert_eq!(observed.record.outcome, crate::Outcome::Replayed);
        assert_eq!((observed.record.bytes.write_set, observed.record.bytes.restored_device), (8192, 4 * 8192));
        let full = window_overhead(&load(RestoreMode::Full)).unwrap();
        assert_eq!(full.record.bytes.restored_device, 4 << 20);
        assert!(observed.engine <= observed.window);
        let batch = batch_overhead(&Load { windows: 60, ..load(RestoreMode::Observed) }).unwrap();
        assert!(batch.engine <= batch.closing && batch.recorded > Duration::ZERO && batch.unselected > Duration::ZERO);
        assert!(unselected_launch(1000).unwrap() > Duration::ZERO);
        assert_eq!(staging_cycle(1 << 20).bytes, 1 << 20);
    }
}
