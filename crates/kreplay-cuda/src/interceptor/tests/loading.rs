//! Launches from within a library that is being loaded: the loader is held, so no thread of ours may be waited for.

use super::*;
use crate::tables::GraphExec;
use kreplay_engine::Decline;

/// A program whose counters would need threads, and how often they were made.
fn program() -> (Program, Arc<AtomicU32>) {
    let made = Arc::new(AtomicU32::new(0));
    let makes = Arc::clone(&made);
    let make = move |_: &CudaAgent| {
        makes.fetch_add(1, Ordering::Relaxed);
        None
    };
    (Program::counted(3, false, Request::default(), Box::new(make)), made)
}

/// Does something as a library's constructor would.
fn within_a_constructor<T>(work: impl FnOnce() -> T) -> T {
    CLOSING.set(true);
    let done = work();
    CLOSING.set(false);
    done
}

#[test]
fn a_first_launch_within_a_constructor_declines_and_makes_nothing() {
    let (program, made) = program();
    let data = program.allocate(4096);
    let (function, before) = (increment("constructed"), word(data));
    let calls = fake::calls();
    within_a_constructor(|| {
        program.launch(function, "constructed", data, Stream::NULL, 0);
        program.launch(increment("boring_constructed"), "boring_constructed", data, Stream::NULL, 0);
    });
    assert_eq!(fake::calls(), calls + 2, "the two launches");
    assert_eq!((made.load(Ordering::Relaxed), program.log.not_selected.load(Ordering::Relaxed)), (0, 1));
    let record = program.last();
    assert_eq!((&*record.kernel.name, record.stream, record.geometry.items), ("constructed", 1, [32, 1, 1]));
    assert_eq!(program.declined(), Some(Decline::LoaderHeld));
    assert!(program.interceptor.context(program.context).driven().is_none());
    // Once the library is there everything goes its way.
    program.launch(function, "constructed", data, Stream::NULL, 0);
    assert_eq!((program.last().outcome, program.last().agent), (Outcome::Replayed, record.agent));
    assert_eq!(word(data), before.wrapping_add(3));
    let told: Vec<_> = locked(&program.log.warnings).iter().map(|(key, _)| *key).collect();
    assert_eq!(told, ["loader_held"]);
}

#[test]
fn so_does_one_that_finds_an_engine_whose_threads_may_not_have_begun() {
    let (program, _) = program();
    let data = program.allocate(4096);
    // Got ready beside the program, while the loader was free.
    std::thread::scope(|scope| scope.spawn(|| program.interceptor.get_ready(program.context)).join()).expect("it ends");
    assert!(program.interceptor.context(program.context).driven().is_some());
    let (function, before) = (increment("constructed_later"), word(data));
    within_a_constructor(|| program.launch(function, "constructed_later", data, Stream::NULL, 0));
    assert_eq!((program.declined(), word(data)), (Some(Decline::LoaderHeld), before.wrapping_add(1)));
    program.launch(function, "constructed_later", data, Stream::NULL, 0);
    assert_eq!((program.last().outcome, word(data)), (Outcome::Replayed, before.wrapping_add(2)));
}

#[test]
fn so_does_a_graph_and_a_context_is_not_got_ready() {
    let (program, made) = program();
    let parameters = GraphLaunchParams { graph: GraphExec::NULL.0, stream: Stream::NULL };
    within_a_constructor(|| {
        program.interceptor.get_ready(program.context);
        program.call(cbid::GRAPH_LAUNCH, "", &parameters, || 0);
    });
    assert_eq!((program.declined(), made.load(Ordering::Relaxed)), (Some(Decline::LoaderHeld), 0));
}

#[test]
fn a_first_launch_beside_a_capture_is_told_of() {
    let (program, made) = program();
    let data = program.allocate(4096);
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    program.launch(increment("beside_a_capture"), "beside_a_capture", data, Stream(0x90 as *mut c_void), 0);
    assert_eq!((program.declined(), made.load(Ordering::Relaxed)), (Some(Decline::StreamCapture), 0));
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
}
