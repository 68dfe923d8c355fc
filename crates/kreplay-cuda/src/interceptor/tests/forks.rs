//! Children that the program forks.

use super::super::forked::{self, testing};
use super::*;

/// A batch window is open, and another thread holds what nearly every call needs, when the program forks.
#[test]
fn a_forked_child_waits_for_nothing_and_its_parent_goes_on() {
    let program = Program::with(3, true);
    assert!(forked::tell_children(Arc::clone(&program.interceptor.alive)));
    let advance = increment("advance");
    let data = program.allocate(4096);
    let before = word(data);
    program.launch(advance, "advance", data, Stream::NULL, 0);
    let (held, holding) = std::sync::mpsc::channel();
    let (done, waits) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let interceptor = &program.interceptor;
        scope.spawn(move || {
            let _live = locked(&interceptor.live);
            let _graphs = locked(&interceptor.graphs);
            let _mappings = locked(&interceptor.mappings);
            held.send(()).expect("it is waited for");
            let _ = waits.recv();
        });
        holding.recv().expect("it holds");
        let ended = testing::fork(|| {
            let pointer = data + (1 << 20);
            let parameters = MemAllocParams { pointer: &raw const pointer, bytes: 4096 };
            program.call(cbid::MEM_ALLOC, "", &parameters, || 0);
            program.free(pointer, 0);
            program.free(data, 1);
            program.launch(advance, "advance", data, Stream::NULL, 1);
            program.resource(resource::STREAM_CREATED, Stream(0x77 as *mut c_void), std::ptr::null());
            testing::leave(i32::from(program.interceptor.is_alive()));
        });
        drop(done);
        assert_eq!(ended.code(), Some(0), "a child hung or goes on profiling");
    });
    assert!(program.interceptor.is_alive());
    program.launch(advance, "advance", data, Stream::NULL, 0);
    program.interceptor.finish();
    assert_eq!(word(data), before.wrapping_add(2));
    let outcomes: Vec<_> = locked(&program.log.dispatches).iter().map(|record| record.outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Replayed, Outcome::Replayed]);
}
