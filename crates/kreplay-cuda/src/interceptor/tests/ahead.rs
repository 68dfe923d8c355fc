//! What is done before the first launch, beside the program.

use super::one_pass::{OnePass, Told};
use super::*;
use crate::interceptor::AgentCounters;
use std::sync::Barrier;

fn program(meeting: Option<Arc<Barrier>>) -> (Program, Told) {
    let told = Told::default();
    let (request, sink) = (Request { names: vec!["anything".into()], ..Request::default() }, Arc::clone(&told));
    let make = move |_: &CudaAgent| {
        sink.lock().expect("nobody panics").push("make");
        let (told, meeting) = (Arc::clone(&sink), meeting.clone());
        Some(Arc::new(OnePass { waits: true, told, meeting, ..OnePass::default() }) as Arc<dyn AgentCounters>)
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
