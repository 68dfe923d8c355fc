//! Counters that count the program's own launches.

use kreplay_engine::{
    CounterInfo, Counters, CountersError, Deliver, Delivery, LostReadings, Plan, PlanError, PlannedPass, Reading,
    Request, Value, Way,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Counters that count the program's own launches: each dispatch's value is how many it was among those of the pass.
#[derive(Default)]
pub struct InLine {
    pub calls: Mutex<Vec<String>>,
    pub failing: Mutex<Option<&'static str>>,
    /// Between `before` and `after`.
    pub fenced: AtomicBool,
    pub counted: AtomicU32,
    pub every_launch: bool,
    pub most: Option<u32>,
    /// Most dispatches that come as one.
    pub together: Option<u32>,
    /// Whether the end of a pass shows that the program's own launches cannot be counted after all.
    pub gives_up: bool,
    pub given_up: AtomicBool,
    /// Readings of these dispatches are lost, each part for its reason.
    pub losing: Vec<(std::ops::Range<u32>, &'static str)>,
}

impl InLine {
    fn call(&self, call: String) -> Result<(), CountersError> {
        let fails = self.failing.lock().unwrap().is_some_and(|failing| call.starts_with(failing));
        self.calls.lock().unwrap().push(call);
        if fails { Err(CountersError::Discarded("by order".into())) } else { Ok(()) }
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl Counters for InLine {
    fn list(&self) -> Vec<CounterInfo> {
        Vec::new()
    }

    fn plan(&self, request: &Request) -> Result<Plan, PlanError> {
        let pass = |index| PlannedPass { index, counters: Vec::new(), way: Way::Sampling, price: Duration::ZERO };
        Ok(Plan { passes: (0..request.names.len() as u32).map(pass).collect() })
    }

    fn counts_program_queues(&self, pass: &PlannedPass) -> bool {
        pass.way == Way::Sampling && !self.given_up.load(Ordering::SeqCst)
    }

    fn counts_every_launch(&self, _: &Plan) -> bool {
        self.every_launch
    }

    fn most_dispatches(&self, _: &Plan) -> u32 {
        self.most.unwrap_or(u32::MAX)
    }

    fn most_together(&self, plan: &Plan) -> u32 {
        self.together.unwrap_or_else(|| self.most_dispatches(plan))
    }

    fn open(&self, _: &Plan, dispatches: u32) -> Result<(), CountersError> {
        self.counted.store(0, Ordering::SeqCst);
        self.call(format!("open {dispatches}"))
    }

    fn begin(&self, pass: &PlannedPass) -> Result<(), CountersError> {
        self.call(format!("begin {}", pass.index))
    }

    fn before(&self, index: u32) -> Result<(), CountersError> {
        self.call(format!("before {index}"))?;
        assert!(!self.fenced.swap(true, Ordering::SeqCst), "a fence within a fence");
        Ok(())
    }

    fn after(&self, index: u32) -> Result<(), CountersError> {
        self.call(format!("after {index}"))?;
        assert!(self.fenced.swap(false, Ordering::SeqCst));
        self.counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn end(&self) -> Result<(), CountersError> {
        // A dispatch whose `after` failed is still within its fence.
        self.fenced.store(false, Ordering::SeqCst);
        self.given_up.fetch_or(self.gives_up, Ordering::SeqCst);
        self.call("end".into())
    }

    fn collect(&self, deliver: Deliver) {
        let _ = self.call("collect".into());
        let reading = |dispatch| Reading {
            dispatch,
            pass: 0,
            counter: "place".into(),
            unit: "".into(),
            value: Value::Count(u64::from(dispatch)),
            derived: false,
            bound: None,
        };
        let kept = |dispatch: &u32| !self.losing.iter().any(|(range, _)| range.contains(dispatch));
        let lost = |(range, why): &(std::ops::Range<u32>, &str)| LostReadings {
            dispatches: Some(range.clone()),
            why: CountersError::Discarded((*why).into()),
        };
        deliver(Delivery {
            readings: (0..self.counted.load(Ordering::SeqCst)).filter(kept).map(reading).collect(),
            lost: self.losing.iter().map(lost).collect(),
        });
    }

    fn abandon(&self) {
        // It may come from within a fence.
        self.fenced.store(false, Ordering::SeqCst);
        let _ = self.call("abandon".into());
    }

    fn flush(&self) {}
}
