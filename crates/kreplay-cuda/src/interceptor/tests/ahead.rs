//! What is done before the first launch, beside the program.

use super::*;
use crate::interceptor::AgentCounters;
use kreplay_engine::{CounterInfo, Counters, CountersError, Deliver, Plan, PlanError, PlannedPass, Way};
use std::sync::Barrier;
use std::time::Duration;

/// Counters that tell what was asked of them, in its order.
struct Telling {
    told: Arc<Mutex<Vec<&'static str>>>,
    /// Met as they prepare: when they have begun, and before they end.
    meeting: Option<Arc<Barrier>>,
}

impl Telling {
    fn tell(&self, what: &'static str) {
        locked(&self.told).push(what);
    }
}

impl Counters for Telling {
    fn list(&self) -> Vec<CounterInfo> {
        Vec::new()
    }
    fn plan(&self, _request: &Request) -> Result<Plan, PlanError> {
        self.tell("plan");
        let pass = PlannedPass { index: 0, counters: Vec::new(), way: Way::Timing, price: Duration::ZERO };
        Ok(Plan { passes: vec![pass] })
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
        deliver(Ok(Vec::new()));
    }
    fn abandon(&self) {}
    fn flush(&self) {}
}

impl AgentCounters for Telling {
    fn launched(&self) {}
    fn close(&self) {}
    fn waits(&self) -> bool {
        true
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

type Told = Arc<Mutex<Vec<&'static str>>>;

fn program(meeting: Option<Arc<Barrier>>) -> (Program, Told) {
    let told = Told::default();
    let (request, sink) = (Request { names: vec!["anything".into()], ..Request::default() }, Arc::clone(&told));
    let make = move |_: &CudaAgent| {
        sink.lock().expect("nobody panics").push("make");
        let (told, meeting) = (Arc::clone(&sink), meeting.clone());
        Some(Arc::new(Telling { told, meeting }) as Arc<dyn AgentCounters>)
    };
    (Program::counted(1, false, request, Box::new(make)), told)
}

/// The launch finds what was made.
#[test]
fn a_context_is_got_ready_once_and_before_its_first_launch() {
    let (program, told) = program(None);
    let data = program.allocate(4096);
    std::thread::scope(|scope| scope.spawn(|| program.interceptor.get_ready(program.context)).join()).expect("it ends");
    assert_eq!(*locked(&told), ["make", "plan", "prepare"]);
    program.launch(increment("got_ready"), "got_ready", data, Stream::NULL, 0);
    assert_eq!(*locked(&told), ["make", "plan", "prepare", "open"]);
    assert_eq!(program.last().outcome, Outcome::Counted);
    let before = word(data);
    program.launch(increment("got_ready"), "got_ready", data, Stream::NULL, 0);
    assert_eq!(word(data), before.wrapping_add(1), "memory from before the engine is known to it");
}

#[test]
fn nothing_is_got_ready_within_a_capture_and_a_capture_waits_for_what_is() {
    let (first, told) = program(None);
    first.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    first.interceptor.get_ready(first.context);
    assert!(locked(&told).is_empty(), "the program captures");
    first.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    first.interceptor.get_ready(first.context);
    assert_eq!(*locked(&told), ["make", "plan", "prepare"]);

    let meeting = Arc::new(Barrier::new(2));
    let (second, told) = program(Some(Arc::clone(&meeting)));
    std::thread::scope(|scope| {
        scope.spawn(|| second.interceptor.get_ready(second.context));
        meeting.wait();
        second.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || {
            assert_eq!(*locked(&told), ["make", "plan", "prepare"], "the capture began beside it");
            0
        });
        second.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    });
}

#[test]
fn nothing_is_got_ready_for_a_context_that_ends() {
    let (first, told) = program(None);
    let state = first.interceptor.context(first.context);
    state.finish();
    first.interceptor.get_ready(first.context);
    assert!(locked(&told).is_empty(), "the process ends");
    first.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    first.interceptor.get_ready(first.context);
    assert!(locked(&told).is_empty(), "the context is gone");
}
