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
