//! Batch windows.

use super::*;

#[test]
fn many_launches_and_operations_share_a_window() {
    let program = Program::with(3, true);
    let data = program.allocate(8192);
    let (first, second) = (increment("batched"), increment("batched_too"));
    let before = word(data);
    for _ in 0..10 {
        program.launch(first, "batched", data, Stream::NULL, 0);
        program.launch(second, "batched_too", data + 4096, Stream::NULL, 0);
    }
    assert_eq!(fake::launches("batched"), 10, "pass 0 is the program's own run");
    // A fill, an upload and a copy within the device are recorded; then more launches.
    let driver = &program.interceptor.driver;
    let fill = SetParams { to: data + 8, value: 7, count: 1 };
    program.call(251, "", &fill, || {
        let _depth = crate::agent::Depth::enter();
        driver.set_words(data + 8, 7, 1, Stream::NULL).map_or(1, |()| 0)
    });
    let mut source = 41u32;
    let upload = CopyParams { to: data + 4096, from: &raw const source as u64, bytes: 4 };
    program.call(276, "", &upload, || {
        let _depth = crate::agent::Depth::enter();
        driver.copy(data + 4096, &raw const source as u64, 4, Stream::NULL).map_or(1, |()| 0)
    });
    source = 0;
    let copy = CopyParams { to: data + 12, from: data + 8, bytes: 4 };
    program.call(280, "", &copy, || {
        let _depth = crate::agent::Depth::enter();
        driver.copy(data + 12, data + 8, 4, Stream::NULL).map_or(1, |()| 0)
    });
    program.launch(second, "batched_too", data + 4096, Stream::NULL, 0);
    program.launch(second, "batched_too", data + 12, Stream::NULL, 0);
    assert!(locked(&program.log.dispatches).is_empty(), "the window is open");
    // Peer copies cannot be recorded.
    program.call(
        318,
        "",
        &CopyPeerParams { to: 0, to_context: program.context, from: 0, from_context: program.context, bytes: 0 },
        || 0,
    );
    let records = locked(&program.log.dispatches).clone();
    assert_eq!(records.len(), 22);
    for record in &records {
        assert_eq!((&record.outcome, record.passes_done), (&Outcome::Replayed, 3));
        assert!(record.divergence.is_none());
    }
    assert_eq!(fake::launches("batched"), 30);
    assert_eq!(word(data), before.wrapping_add(10));
    assert_eq!((word(data + 8), word(data + 12), word(data + 4096), source), (7, 8, 42, 0));
    // A free closes a window; so does a capture.
    program.launch(first, "batched", data, Stream::NULL, 0);
    let other = program.allocate(4096);
    program.free(other, 0);
    assert_eq!(locked(&program.log.dispatches).len(), 23);
    program.launch(first, "batched", data, Stream::NULL, 0);
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    assert_eq!(locked(&program.log.dispatches).len(), 24);
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    assert_eq!(word(data), before.wrapping_add(12));
}

/// A kernel of another context may write what a window has as its own: the window could not do that again.
#[test]
fn a_launch_that_reaches_a_peers_memory_ends_its_window() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let before = word(data);
    let function = increment("peer");
    let other = Context((fake::CONTEXT + 0xF10_0000) as *mut c_void);
    let resources = ResourceData { context: other, stream: Stream::NULL, description: std::ptr::null() };
    // SAFETY: the data of this domain.
    unsafe { program.interceptor.callback(domain::RESOURCE, resource::CONTEXT_CREATED, (&raw const resources).cast()) };
    program.launch(function, "peer", data, Stream::NULL, 0);
    program.launch(function, "peer", data, Stream::NULL, 0);
    assert!(locked(&program.log.dispatches).is_empty(), "the window is open");
    let mut program = program;
    let first = std::mem::replace(&mut program.context, other);
    program.launch(function, "peer", data, Stream::NULL, 0);
    let own = |records: &[DispatchRecord]| {
        let of = records.iter().filter(|record| record.outcome == Outcome::Replayed);
        of.map(|record| (record.passes_done, record.divergence.clone())).collect::<Vec<_>>()
    };
    assert_eq!(
        own(&locked(&program.log.dispatches)),
        [(3, None), (3, None)],
        "its window ended before the peer's launch"
    );
    assert_eq!(program.declined(), Some(kreplay_engine::Decline::ImportedMemory));
    program.context = first;
    program.launch(function, "peer", data, Stream::NULL, 0);
    program.interceptor.close_windows(ClosingReason::Unrecordable);
    assert_eq!(own(&locked(&program.log.dispatches)), vec![(3, None); 3]);
    assert_eq!(word(data), before.wrapping_add(4));
}

#[test]
fn what_fails_within_a_window_is_not_replayed() {
    let program = Program::with(3, true);
    let data = program.allocate(8192);
    let kernel = increment("batched_beside_failures");
    let (before, filled) = (word(data), word(data + 8));
    let launch = || program.launch(kernel, "batched_beside_failures", data, Stream::NULL, 0);
    launch();
    program.launch(kernel, "batched_beside_failures", data, Stream::NULL, 1);
    assert!(locked(&program.log.dispatches).is_empty(), "the window is over when the next thing comes");
    launch();
    let fill = SetParams { to: data + 8, value: 7, count: 1 };
    program.call(251, "", &fill, || 1);
    launch();
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 0);
    let outcomes: Vec<Outcome> = locked(&program.log.dispatches).iter().map(|record| record.outcome.clone()).collect();
    let failed = |outcome: &Outcome| match outcome {
        Outcome::Declined { reason, detail } => {
            *reason == kreplay_engine::Decline::PassFailed && detail.contains("a call of the program failed")
        }
        _ => false,
    };
    // Two launches of which one failed; one beside a fill that failed; one alone.
    assert_eq!(outcomes.iter().map(failed).collect::<Vec<_>>(), [true, true, true, false], "{outcomes:?}");
    assert_eq!(outcomes[3], Outcome::Replayed);
    assert_eq!(word(data), before.wrapping_add(3));
    assert_eq!(word(data + 8), filled, "the fill that failed was not done by a replay");
}
