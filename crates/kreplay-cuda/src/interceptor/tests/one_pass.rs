//! Counters of a single pass that count nothing.

use super::*;
use crate::interceptor::AgentCounters;
use kreplay_engine::{CounterInfo, Counters, CountersError, Deliver, Delivery, Plan, PlanError, PlannedPass, Way};
use std::sync::Barrier;
use std::time::Duration;

/// What was asked of them, in its order.
pub(super) type Told = Arc<Mutex<Vec<&'static str>>>;

/// See the module.
#[derive(Default)]
pub(super) struct OnePass {
    pub(super) waits: bool,
    pub(super) told: Told,
    /// Whether launches are counted as the program makes them.
    pub(super) in_line: bool,
    /// Most dispatches of a window, and of what comes as one.
    pub(super) most: Option<(u32, u32)>,
    /// Met as they prepare: when they have begun, and before they end.
    pub(super) meeting: Option<Arc<Barrier>>,
}

impl OnePass {
    fn tell(&self, what: &'static str) {
        locked(&self.told).push(what);
    }
}

impl Counters for OnePass {
    fn list(&self) -> Vec<CounterInfo> {
        Vec::new()
    }
    fn plan(&self, _request: &Request) -> Result<Plan, PlanError> {
        self.tell("plan");
        let pass = PlannedPass { index: 0, counters: Vec::new(), way: Way::Timing, price: Duration::ZERO };
        Ok(Plan { passes: vec![pass] })
    }
    fn counts_program_queues(&self, _pass: &PlannedPass) -> bool {
        self.in_line
    }
    fn most_dispatches(&self, _plan: &Plan) -> u32 {
        self.most.map_or(u32::MAX, |(most, _)| most)
    }
    fn most_together(&self, _plan: &Plan) -> u32 {
        self.most.map_or(u32::MAX, |(_, together)| together)
    }
    fn open(&self, _plan: &Plan, _dispatches: u32) -> Result<(), CountersError> {
        self.tell("open");
        Ok(())
    }
    fn begin(&self, _pass: &PlannedPass) -> Result<(), CountersError> {
        Ok(())
    }
    fn before(&self, _index: u32) -> Result<(), CountersError> {
        Ok(())
    }
    fn after(&self, _index: u32) -> Result<(), CountersError> {
        Ok(())
    }
    fn end(&self) -> Result<(), CountersError> {
        Ok(())
    }
    fn collect(&self, deliver: Deliver) {
        deliver(Delivery::default());
    }
    fn abandon(&self) {}
    fn flush(&self) {}
}

impl AgentCounters for OnePass {
    fn launched(&self) {}
    fn close(&self) {}
    fn waits(&self) -> bool {
        self.waits
    }
    fn prepare(&self, plan: &Plan, dispatches: u32) {
        assert!(plan.passes.len() == 1 && dispatches > 0);
        if let Some(meeting) = &self.meeting {
            meeting.wait();
            std::thread::sleep(Duration::from_millis(50));
        }
        self.tell("prepare");
    }
}
