//! Contexts that share a device: a window that is counted as it goes by keeps the GPU's counters until it ends.

use super::one_pass::OnePass;
use super::*;
use crate::interceptor::AgentCounters;
use kreplay_engine::{ClosingReason, Outcome};

#[test]
fn a_context_that_begins_ends_the_windows_of_others_that_keep_the_counters() {
    let request = Request { names: vec!["anything".into()], ..Request::default() };
    let counters: Box<MakeCounters> =
        Box::new(|_| Some(Arc::new(OnePass { in_line: true, ..OnePass::default() }) as Arc<dyn AgentCounters>));
    let mut program = Program::counted(1, true, request, counters);
    let step = increment("beside_a_neighbour");
    let data = program.allocate(4096);
    let before = word(data);
    let launch = |program: &Program| program.launch(step, "beside_a_neighbour", data, Stream::NULL, 0);
    launch(&program);
    launch(&program);
    assert!(locked(&program.log.windows).is_empty(), "it holds both");
    program.context = Program::fresh_context();
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    assert!(locked(&program.log.windows).is_empty(), "nothing was launched in the other one");
    launch(&program);
    let closed: Vec<_> =
        locked(&program.log.windows).iter().map(|window| (window.closing, window.dispatches)).collect();
    assert_eq!(closed, [(ClosingReason::Agent, 2)]);
    assert_eq!(word(data), before.wrapping_add(3));
    program.interceptor.close_windows(ClosingReason::Exit);
    assert_eq!(program.last().outcome, Outcome::Counted);
}

#[test]
fn launches_of_a_context_that_is_not_profiled_end_such_windows_and_are_known_to_others() {
    let request = Request { names: vec!["anything".into()], ..Request::default() };
    let counters: Box<MakeCounters> =
        Box::new(|_| Some(Arc::new(OnePass { in_line: true, ..OnePass::default() }) as Arc<dyn AgentCounters>));
    let mut program = Program::counted(1, true, request, counters);
    let (step, boring) = (increment("beside_a_bystander"), increment("boring_bystander"));
    let data = program.allocate(4096);
    program.launch(step, "beside_a_bystander", data, Stream::NULL, 0);
    let agent = program.interceptor.context(program.context).driven().expect("an engine").agent.clone();
    assert!(!agent.shares_device() && locked(&program.log.windows).is_empty());
    let counted = program.context;
    program.context = Program::fresh_context();
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    for _ in 0..3 {
        program.launch(boring, "boring_bystander", data, Stream::NULL, 0);
    }
    let closed: Vec<_> = locked(&program.log.windows).iter().map(|window| window.closing).collect();
    assert_eq!(closed, [ClosingReason::Agent], "it ended before the first of them");
    assert!(program.interceptor.context(program.context).driven().is_none(), "none was selected");
    assert_eq!((agent.shares_device(), agent.launches_beside()), (true, 3));
    // A graph is seen, whatever the filter says, and once the context is gone nobody shares the device.
    let parameters = GraphLaunchParams { graph: std::ptr::null_mut(), stream: Stream::NULL };
    program.call(cbid::GRAPH_LAUNCH, "", &parameters, || 0);
    assert!(program.interceptor.context(program.context).driven().is_some());
    assert_eq!((agent.shares_device(), agent.launches_beside()), (true, 1));
    program.call(cbid::GRAPH_LAUNCH, "", &parameters, || 0);
    assert_eq!(agent.launches_beside(), 2);
    program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    assert!(!agent.shares_device());
    program.context = counted;
}

#[test]
fn a_bystander_that_is_gone_is_nobodys_neighbour() {
    let mut program = Program::new(3);
    let data = program.allocate(4096);
    program.launch(increment("alone_at_last"), "alone_at_last", data, Stream::NULL, 0);
    let agent = program.interceptor.context(program.context).driven().expect("an engine").agent.clone();
    let first = std::mem::replace(&mut program.context, Program::fresh_context());
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    assert!(!agent.shares_device(), "it has launched nothing");
    program.launch(increment("boring_for_a_while"), "boring_for_a_while", data, Stream::NULL, 0);
    // A third one, so that there are several all the time.
    let second = std::mem::replace(&mut program.context, Program::fresh_context());
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    assert!(agent.shares_device());
    program.context = second;
    program.resource(resource::CONTEXT_DESTROY_STARTING, Stream::NULL, std::ptr::null());
    assert!(!agent.shares_device());
    program.context = first;
}

#[test]
fn a_context_that_cannot_be_profiled_is_a_bystander() {
    let mut program = Program::new(3);
    let data = program.allocate(4096);
    let step = increment("beside_an_unprofiled_one");
    program.launch(step, "beside_an_unprofiled_one", data, Stream::NULL, 0);
    let agent = program.interceptor.context(program.context).driven().expect("an engine").agent.clone();
    let first = std::mem::replace(&mut program.context, Program::fresh_context());
    program.resource(resource::CONTEXT_CREATED, Stream::NULL, std::ptr::null());
    fake::script("cuStreamCreate", &[2]);
    program.launch(step, "beside_an_unprofiled_one", data, Stream::NULL, 0);
    assert!(program.interceptor.context(program.context).driven().is_none());
    let before = agent.launches_beside();
    program.launch(step, "beside_an_unprofiled_one", data, Stream::NULL, 0);
    assert_eq!((agent.shares_device(), agent.launches_beside() - before), (true, 1));
    program.context = first;
}
