//! Collectives that are counted as they run: nothing may wait for one before its peers are launched.

use super::*;
use crate::interceptor::AgentCounters;
use kreplay_engine::{
    CounterInfo, Counters, CountersError, Decline, Deliver, Plan, PlanError, PlannedPass, Request, Way,
};
use std::time::Duration;

/// Counters of one pass.
struct OnePass {
    waits: bool,
}

impl Counters for OnePass {
    fn list(&self) -> Vec<CounterInfo> {
        Vec::new()
    }
    fn plan(&self, _request: &Request) -> Result<Plan, PlanError> {
        let pass = PlannedPass { index: 0, counters: Vec::new(), way: Way::Timing, price: Duration::ZERO };
        Ok(Plan { passes: vec![pass] })
    }
    fn open(&self, _plan: &Plan, _dispatches: u32) -> Result<(), CountersError> {
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
        deliver(Ok(Vec::new()));
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
    fn prepare(&self, _plan: &Plan, _dispatches: u32) {}
}

#[test]
fn none_is_waited_for_where_the_process_has_several_contexts() {
    for (waits, contexts, expected) in [(true, 1, None), (true, 2, Some(Decline::Collective)), (false, 2, None)] {
        let request = Request { names: vec!["anything".into()], ..Request::default() };
        let program = Program::counted(
            1,
            false,
            request,
            Box::new(move |_| Some(Arc::new(OnePass { waits }) as Arc<dyn AgentCounters>)),
        );
        if contexts > 1 {
            program.interceptor.context(Context(0xc0_0000 as *mut c_void));
        }
        let data = program.allocate(4096);
        let name = format!("ncclDevKernel_AllReduce_{waits}_{contexts}");
        program.launch(increment(&name), &name, data, Stream::NULL, 0);
        assert_eq!(program.declined(), expected, "waits: {waits}, contexts: {contexts}");
    }
}
