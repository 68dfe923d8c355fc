//! A program beside its model: what memory must hold is computed on the host.

use super::model::Model;
use super::{Kernel, Log, Rig, observes_or_skips};
use crate::{
    Agent, Arguments, BatchLimits, ByPlan, Decision, DispatchInfo, DispatchRecord, Engine, EveryKernel, Filter,
    Geometry, KernelInfo, LastPass, Operation, Policy, Process, Range, Region, RegionKind, Settings, Traits,
    WindowStatus, Writers,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A rig with an engine on its agent, and a model of the program's memory.
pub struct World<'a, R: Rig> {
    /// The rig.
    pub rig: &'a R,
    /// The engine.
    pub engine: Arc<Engine<R::Agent>>,
    /// What the engine told.
    pub log: Arc<Log>,
    model: Model,
    hidden: u64,
}

/// Settings for tests: short deadlines, windows of any length of time, and no reserve unless the test asks for one.
pub(super) fn quick(settings: Settings) -> Settings {
    let asked = settings.device_reserve != Settings::default().device_reserve;
    Settings {
        drain_deadline: Duration::from_secs(20),
        pass_deadline: Duration::from_secs(20),
        batch: BatchLimits { time: Duration::MAX, ..settings.batch },
        device_reserve: if asked { settings.device_reserve } else { 0 },
        ..settings
    }
}

impl<'a, R: Rig> World<'a, R> {
    /// A world in which every kernel is selected and runs the plan's passes.
    pub fn new(rig: &'a R, settings: Settings) -> Self {
        Self::with(rig, settings, Arc::new(EveryKernel), Arc::new(ByPlan))
    }

    /// A world with a filter and a policy.
    pub fn with(rig: &'a R, settings: Settings, filter: Arc<dyn Filter>, policy: Arc<dyn Policy>) -> Self {
        let log = Log::new();
        let process = Process::new(quick(settings), filter, policy, log.clone());
        let engine = Engine::new(rig.agent(), None, process).expect("nothing is asked for that could be missing");
        let mut world = Self { rig, engine, log, model: Model::default(), hidden: 0 };
        // A counter that the engine is not told of: it goes on from pass to pass.
        world.hidden = world.allocate_unseen(16);
        world
    }

    /// The address of a word that starts at 0 and that the engine never puts back.
    pub fn hidden(&self) -> u64 {
        self.hidden
    }

    /// Sets the hidden word.
    pub fn set_hidden(&mut self, value: u32) {
        let hidden = self.hidden;
        self.write(Range::new(hidden, 4), &value.to_le_bytes());
    }

    /// Memory that the engine knows, filled with a pattern.
    pub fn allocate(&mut self, bytes: u64) -> Range {
        self.allocate_as(bytes, RegionKind::Device, Writers::Seen)
    }

    /// Memory that the engine knows as this.
    pub fn allocate_as(&mut self, bytes: u64, kind: RegionKind, writers: Writers) -> Range {
        let range = Range::new(self.allocate_unseen(bytes), bytes);
        self.engine.region_born(Region { range, kind, writers });
        range
    }

    fn allocate_unseen(&mut self, bytes: u64) -> u64 {
        let base = self.rig.allocate(bytes);
        let pattern: Vec<u8> = (0..bytes).map(|at| (at * 31 + at / 251 * 7 + bytes) as u8).collect();
        let pattern = if bytes == 16 { vec![0; 16] } else { pattern };
        self.rig.write(base, &pattern);
        self.model.live.insert(base, pattern);
        base
    }

    /// The program frees memory, the engine being told first.
    pub fn free(&mut self, range: Range) {
        let retired = self.engine.region_retire(range.base).expect("the engine knows it");
        self.rig.free(range.base);
        drop(retired);
        self.model.live.remove(&range.base);
    }

    /// Memory of a pool, of which the engine is told nothing yet.
    pub fn pool(&mut self, bytes: u64) -> Range {
        let base = self.allocate_unseen(bytes);
        self.model.pools.insert(base, BTreeMap::new());
        Range::new(base, bytes)
    }

    /// The program allocates a part of a pool. What it holds is what was left there.
    pub fn allocate_within(&mut self, range: Range) {
        let content = self.rig.read(range);
        self.model.write(range.base, &content);
        let (_, allocated) = self.model.pools.range_mut(..=range.base).next_back().expect("a pool");
        allocated.insert(range.base, range.bytes);
        self.engine.region_born(Region { range, kind: RegionKind::Pool, writers: Writers::Seen });
    }

    /// The program gives a part of a pool back, the engine being told first. `over` is called when no replay needs it.
    pub fn give_back(&mut self, range: Range, over: impl FnOnce() + Send + 'static) {
        match self.engine.region_lingers(range.base, Box::new(over)) {
            Ok(retired) => drop(retired),
            Err(over) => {
                drop(self.engine.region_retire(range.base).expect("the engine knows it"));
                over();
            }
        }
        let (_, allocated) = self.model.pools.range_mut(..=range.base).next_back().expect("a pool");
        allocated.remove(&range.base);
    }

    /// The program writes through its API.
    pub fn write(&mut self, range: Range, bytes: &[u8]) {
        let guard = self.engine.operation();
        self.engine.region_written(range);
        self.rig.write(range.base, bytes);
        drop(guard);
        self.model.write(range.base, bytes);
    }

    /// Somebody else writes, and nobody tells the engine.
    pub fn write_unseen(&mut self, address: u64, bytes: &[u8]) {
        self.rig.write(address, bytes);
        self.model.write(address, bytes);
    }

    /// What the interceptor knows of a launch.
    pub fn info(&self, kernel: &Kernel) -> DispatchInfo {
        DispatchInfo {
            kernel: KernelInfo { key: kernel.name().len() as u64, name: kernel.name().into() },
            geometry: Geometry::default(),
            stream: 0,
            arguments: Arguments::Known(kernel.argument_bytes().into()),
            traits: Traits::default(),
        }
    }

    /// The program launches a kernel, the engine between. The model runs it once.
    pub fn launch(&mut self, kernel: &Kernel) -> Option<WindowStatus> {
        let status = self.launch_apart(kernel);
        kernel.run(&mut self.model);
        status
    }

    /// The same without the model, for kernels whose result is not foreseen.
    pub fn launch_apart(&mut self, kernel: &Kernel) -> Option<WindowStatus> {
        match self.engine.dispatch(&self.info(kernel), || Ok(self.rig.work(kernel))) {
            Decision::Run(guard) | Decision::Recorded(guard) => {
                self.rig.launch(kernel);
                drop(guard);
                None
            }
            Decision::Window(mut window) => {
                window.run_until_last();
                self.rig.launch(kernel);
                Some(window.close(LastPass::Submitted))
            }
        }
    }

    /// The program has a memory operation done that can be recorded, as this kernel would do it.
    pub fn operate(&mut self, kernel: &Kernel) {
        let rig = self.rig;
        let mut record = || Some(rig.work(kernel));
        let guard = self.engine.memory_operation(Operation::Repeatable { bytes: 0, record: &mut record });
        self.engine.region_written(kernel.output());
        rig.launch(kernel);
        drop(guard);
        kernel.run(&mut self.model);
    }

    /// The model alone runs a kernel.
    pub fn model_run(&mut self, kernel: &Kernel) {
        kernel.run(&mut self.model);
    }

    /// Panics when memory is not what the model says, but for the hidden word.
    pub fn check(&self, when: &str) {
        for (base, held) in self.model.live.iter().filter(|(base, _)| **base != self.hidden) {
            let parts = match self.model.pools.get(base) {
                Some(allocated) => allocated.iter().map(|(part, bytes)| Range::new(*part, *bytes)).collect(),
                None => vec![Range::new(*base, held.len() as u64)],
            };
            for range in parts {
                let from = (range.base - base) as usize;
                let expected = &held[from..from + range.bytes as usize];
                let found = self.rig.read(range);
                if let Some(at) = (0..expected.len()).find(|at| found[*at] != expected[*at]) {
                    let (base, bytes) = (range.base, range.bytes);
                    panic!("{when}: byte {at} of {bytes} at {base:#x} is {:#x}, not {:#x}", found[at], expected[at]);
                }
            }
        }
    }

    /// Closes the batch window that is open, if one is.
    pub fn close_window(&self) {
        self.engine.close_window();
    }

    /// The newest record.
    pub fn record(&self) -> DispatchRecord {
        self.log.last_dispatch()
    }

    /// Whether the agent compares on the device.
    pub fn observes(&self) -> bool {
        self.rig.agent().describe().capabilities.observe
    }

    /// As [`observes_or_skips`].
    pub fn observes_or_skips(&self) -> bool {
        observes_or_skips(self.rig)
    }
}

impl<R: Rig> Drop for World<'_, R> {
    fn drop(&mut self) {
        self.engine.finish(Instant::now() + Duration::from_secs(20));
        if !std::thread::panicking() {
            for base in self.model.live.keys() {
                self.rig.free(*base);
            }
        }
    }
}
