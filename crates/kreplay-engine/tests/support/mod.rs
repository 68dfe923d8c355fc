//! What several tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

mod in_line;
mod setup;

#[allow(unused_imports, reason = "each test uses a part of it")]
pub use in_line::InLine;
#[allow(unused_imports, reason = "each test uses a part of it")]
pub use setup::Setup;

use kreplay_engine::memory_agent::{MemoryAgent, Work};
use kreplay_engine::{
    Arguments, BatchLimits, CounterInfo, Counters, CountersError, Decision, Deliver, Delivery, DispatchInfo, Engine,
    Filter, Geometry, KernelInfo, LastPass, LostReadings, PassEnd, Passes, Plan, PlanError, PlannedCounter,
    PlannedPass, Policy, Range, Reading, Region, RegionKind, Request, Services, Settings, Traits, Value, Way,
    WindowStatus, Writers,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Selects kernels with odd keys.
pub struct Odd;

impl Filter for Odd {
    fn select(&self, kernel: &KernelInfo) -> bool {
        kernel.key % 2 == 1
    }
}

/// The default limits, but for the time: a window of a test is as long on a slow machine.
pub fn limits() -> BatchLimits {
    BatchLimits { time: Duration::MAX, ..BatchLimits::default() }
}

pub fn settings(passes: u32) -> Settings {
    Settings {
        uncounted_passes: passes,
        batch: limits(),
        device_reserve: 0,
        drain_deadline: Duration::from_secs(20),
        pass_deadline: Duration::from_secs(20),
        ..Settings::default()
    }
}

pub fn info(key: u64) -> DispatchInfo {
    DispatchInfo {
        kernel: KernelInfo { key, name: format!("kernel{key}").into() },
        geometry: Geometry::default(),
        stream: key,
        arguments: Arguments::Known([].into()),
        traits: Traits::default(),
    }
}

/// Device memory that the engine knows, filled with a pattern.
pub fn allocate(agent: &MemoryAgent, engine: &Engine<MemoryAgent>, bytes: u64) -> Range {
    let range = Range::new(agent.program_allocate(bytes), bytes);
    fill(agent, range);
    engine.region_born(Region { range, kind: RegionKind::Device, writers: Writers::Seen });
    range
}

pub fn fill(agent: &MemoryAgent, range: Range) {
    agent.with_memory(|memory| {
        for (at, byte) in memory.bytes_mut(range).iter_mut().enumerate() {
            *byte = (at * 13 + at / 256) as u8;
        }
    });
}

/// Adds `value` to every word of a range.
pub fn add(at: Range, value: u32) -> Work {
    Work::new(move |memory| {
        for address in (at.base..at.end()).step_by(4) {
            let sum = memory.load(address).wrapping_add(value);
            memory.store(address, sum);
        }
    })
}

/// The program launches `work` on queue `queue`, the engine between.
pub fn launch(engine: &Arc<Engine<MemoryAgent>>, info: &DispatchInfo, queue: u64, work: &Work) -> Option<WindowStatus> {
    match engine.dispatch(info, || Ok(work.clone())) {
        Decision::Run(guard) | Decision::Recorded(guard) => {
            engine.agent().program_launch(queue, work);
            drop(guard);
            None
        }
        Decision::Window(mut window) => {
            window.run_until_last();
            engine.agent().program_launch(queue, work);
            Some(window.close(LastPass::Submitted))
        }
    }
}

/// Counters that write down what is asked of them, and fail when told.
#[derive(Default)]
pub struct Scripted {
    pub calls: Mutex<Vec<String>>,
    /// Calls that begin so fail.
    pub failing: Mutex<Vec<&'static str>>,
    /// Readings are kept back until [`Scripted::deliver`].
    pub late: bool,
    /// Launches that are not selected are counted too.
    pub every_launch: bool,
    /// Readings of this pass are lost.
    pub losing: Mutex<Option<u32>>,
    owed: Mutex<Vec<(Deliver, Vec<u32>)>>,
    begun: Mutex<Vec<u32>>,
}

impl Scripted {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    pub fn every_launch() -> Arc<Self> {
        Arc::new(Self { every_launch: true, ..Self::default() })
    }

    pub fn late() -> Arc<Self> {
        Arc::new(Self { late: true, ..Self::default() })
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    pub fn fail(&self, calls: &[&'static str]) {
        *self.failing.lock().unwrap() = calls.to_vec();
    }

    fn call(&self, call: String) -> Result<(), CountersError> {
        let fails = self.failing.lock().unwrap().iter().any(|failing| call.starts_with(failing));
        self.calls.lock().unwrap().push(call);
        if fails { Err(CountersError::Failed { call: "scripted", status: "by order".into() }) } else { Ok(()) }
    }

    pub fn deliver(&self) {
        for (deliver, passes) in std::mem::take(&mut *self.owed.lock().unwrap()) {
            let reading = |pass| Reading {
                dispatch: 0,
                pass,
                counter: "waves".into(),
                unit: "".into(),
                value: Value::Count(u64::from(pass) + 100),
                derived: false,
                bound: None,
            };
            let losing = *self.losing.lock().unwrap();
            let why = CountersError::Discarded("they did not fit".into());
            let lost = losing.map(|_| LostReadings { dispatches: None, why }).into_iter().collect();
            let kept = passes.into_iter().filter(|pass| losing != Some(*pass));
            deliver(Delivery { readings: kept.map(reading).collect(), lost });
        }
    }
}

impl Counters for Scripted {
    fn list(&self) -> Vec<CounterInfo> {
        Vec::new()
    }

    /// As many passes as names.
    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        if let Some(name) = request.names.iter().find(|name| name.starts_with('?')) {
            return Err(PlanError::Unknown { name: name.clone(), near: vec![] });
        }
        let pass = |(index, name): (usize, &String)| PlannedPass {
            index: index as u32,
            counters: vec![PlannedCounter { name: name.as_str().into(), block: "SQ".into(), unit: "".into() }],
            way: if name == "time" { Way::Timing } else { Way::Ranges },
            price: Duration::ZERO,
        };
        Ok(Plan { passes: request.names.iter().enumerate().map(pass).collect() })
    }

    fn counts_every_launch(&self, _plan: &Plan) -> bool {
        self.every_launch
    }

    fn open(&self, _: &Plan, dispatches: u32) -> Result<(), CountersError> {
        self.begun.lock().unwrap().clear();
        self.call(format!("open {dispatches}"))
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        self.call(format!("begin {}", pass.index))?;
        self.begun.lock().unwrap().push(pass.index);
        Ok(())
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        self.call(format!("before {index}"))
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        self.call(format!("after {index}"))
    }

    fn end(&self) -> Result<(), CountersError> {
        self.call("end".into())
    }

    fn collect(&self, deliver: Deliver) {
        let _ = self.call("collect".into());
        self.owed.lock().unwrap().push((deliver, self.begun.lock().unwrap().clone()));
        if !self.late {
            self.deliver();
        }
    }

    fn abandon(&self) {
        let _ = self.call("abandon".into());
    }

    fn clock_mhz(&self) -> Option<u32> {
        Some(1980)
    }

    fn flush(&self) {
        let _ = self.call("flush".into());
        self.deliver();
    }
}

/// A policy told by closures what to do; writes down how it is asked.
pub struct Told {
    pub passes: Passes,
    pub stop_after: Option<u32>,
    pub uncounted: Vec<u32>,
    pub log: Mutex<Vec<String>>,
}

impl Told {
    pub fn new(passes: Passes) -> Self {
        Self { passes, stop_after: None, uncounted: Vec::new(), log: Mutex::default() }
    }
}

impl Policy for Told {
    fn passes(&self, _: &DispatchInfo, _: &Plan) -> Passes {
        self.log.lock().unwrap().push("passes".into());
        self.passes
    }

    fn services(&self, _: &DispatchInfo, pass: u32) -> Services {
        Services { counters: !self.uncounted.contains(&pass) }
    }

    fn proceed(&self, _: &DispatchInfo, end: PassEnd) -> bool {
        self.log.lock().unwrap().push(format!("proceed {}", end.pass));
        self.stop_after != Some(end.pass)
    }

    fn ended(&self, _: &DispatchInfo, status: &WindowStatus) {
        self.log.lock().unwrap().push(format!("ended {}", status.passes_done));
    }
}
