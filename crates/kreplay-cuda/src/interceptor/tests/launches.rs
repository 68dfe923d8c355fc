//! Launches in all forms, and what makes them decline.

use super::*;

#[test]
fn an_in_place_kernel_runs_in_every_pass_and_counts_once() {
    let program = Program::new(4);
    let data = program.allocate(64 << 10);
    let function = increment("in_place");
    let before = word(data);
    for round in 1..=5 {
        program.launch(function, "in_place", data, Stream::NULL, 0);
        assert_eq!(word(data), before.wrapping_add(round), "one run, whatever the passes");
        let record = program.last();
        assert_eq!((record.outcome, record.passes_done), (Outcome::Replayed, 4));
        assert_eq!((record.bytes.write_set, record.bytes.footprint), (4096, 64 << 10));
        assert_eq!(record.stream, Stream::LEGACY.raw());
        assert!(record.divergence.is_none());
    }
    assert_eq!(fake::launches("in_place"), 20);
    assert_eq!(locked(&program.log.dispatches).len(), 5, "one record a dispatch");
}

#[test]
fn extended_cooperative_and_packed_launches_are_replayed_too() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("forms");
    let before = word(data);
    let own = |argument: u64| {
        program.launch_own(function, 1, argument, Stream::NULL);
        0
    };
    let mut argument = data;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let attributes = [
        LaunchAttribute { id: attribute::PROGRAMMATIC_SERIALIZATION, padding: 0, value: [1; 8] },
        LaunchAttribute { id: 4, padding: 0, value: [2, 1, 1, 0, 0, 0, 0, 0] },
    ];
    let config = LaunchConfig {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        attributes: attributes.as_ptr(),
        attribute_count: 2,
    };
    let extended = LaunchKernelExParams {
        config: &raw const config,
        function,
        arguments: arguments.as_mut_ptr(),
        extra: std::ptr::null_mut(),
    };
    program.call(cbid::LAUNCH_KERNEL_EX_PTSZ, "forms", &extended, || own(data));
    assert_eq!((program.last().outcome, program.last().stream), (Outcome::Replayed, Stream::PER_THREAD.raw()));
    assert_eq!(program.last().geometry.items, [64, 1, 1]);
    let cooperative = LaunchCooperativeParams {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        arguments: arguments.as_mut_ptr(),
    };
    program.call(cbid::LAUNCH_COOPERATIVE, "forms", &cooperative, || own(data));
    assert_eq!(program.last().outcome, Outcome::Replayed);
    let mut packed = data.to_ne_bytes();
    let mut bytes = packed.len();
    let mut extra: [*mut c_void; 5] = [
        std::ptr::without_provenance_mut(1),
        packed.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(2),
        (&raw mut bytes).cast(),
        std::ptr::null_mut(),
    ];
    let plain = LaunchKernelParams {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        shared: 0,
        stream: Stream::NULL,
        arguments: std::ptr::null_mut(),
        extra: extra.as_mut_ptr(),
    };
    program.call(cbid::LAUNCH_KERNEL, "forms", &plain, || own(data));
    assert_eq!((program.last().outcome, program.last().argument_bytes), (Outcome::Replayed, Some(8)));
    assert_eq!(word(data), before.wrapping_add(3));
    assert_eq!(fake::launches("forms"), 9);
}

#[test]
fn our_own_calls_are_not_looked_at() {
    let program = Program::new(2);
    let data = program.allocate(4096);
    let _depth = crate::agent::Depth::enter();
    program.launch(increment("nested"), "nested", data, Stream::NULL, 0);
    assert_eq!(fake::launches("nested"), 1);
    assert!(locked(&program.log.dispatches).is_empty());
}

#[test]
fn graphs_captures_and_several_devices_decline() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("declining");
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None);
    let graph = GraphLaunchParams { graph: 0x77 as *mut c_void, stream: Stream::NULL };
    program.call(cbid::GRAPH_LAUNCH, "", &graph, || 0);
    assert_eq!(program.declined(), Some(Decline::GraphLaunch));
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 0);
    let launched = fake::launches("declining");
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::StreamCapture));
    assert_eq!(fake::launches("declining"), launched + 1, "nothing but the program's own");
    program.call(cbid::END_CAPTURE, "", &Stream::NULL, || 901);
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None, "an invalidated capture has ended");
    // A capture that could not begin is none.
    program.call(cbid::BEGIN_CAPTURE_V2, "", &Stream::NULL, || 1);
    program.launch(function, "declining", data, Stream::NULL, 0);
    assert_eq!(program.declined(), None);
    program.call(cbid::LAUNCH_COOPERATIVE_MULTI, "many", &0u64, || 0);
    assert_eq!(program.declined(), Some(Decline::CooperativeMultiDevice));
    program.launch(increment("ncclDevKernel_AllReduce"), "ncclDevKernel_AllReduce", data, Stream::NULL, 0);
    assert_eq!(program.declined(), Some(Decline::Collective));
}

#[test]
fn a_launch_that_fails_leaves_memory_and_is_recorded() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("failing");
    let before = word(data);
    program.launch(function, "failing", data, Stream::NULL, 701);
    assert_eq!(word(data), before, "nothing ran");
    assert_eq!(program.declined(), Some(kreplay_engine::Decline::PassFailed));
    program.launch(function, "failing", data, Stream::NULL, 0);
    assert_eq!((program.declined(), word(data)), (None, before.wrapping_add(1)));
}

#[test]
fn threads_launch_side_by_side() {
    let program = Program::new(3);
    let function = increment("threads");
    let data: Vec<u64> = (0..4).map(|_| program.allocate(4096)).collect();
    let before: Vec<u32> = data.iter().map(|data| word(*data)).collect();
    std::thread::scope(|scope| {
        for data in &data {
            let program = &program;
            scope.spawn(move || {
                for _ in 0..25 {
                    program.launch(function, "threads", *data, Stream::PER_THREAD, 0);
                }
            });
        }
    });
    for (data, before) in data.iter().zip(before) {
        assert_eq!(word(*data), before.wrapping_add(25));
    }
    let records = locked(&program.log.dispatches);
    assert_eq!(records.len(), 100);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
}
