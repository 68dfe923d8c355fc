//! Launches that nobody asked for.

use super::*;

#[test]
fn what_is_not_selected_or_not_alive_is_left_alone() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("boring");
    program.launch(function, "boring", data, Stream::NULL, 0);
    assert_eq!(program.log.not_selected.load(Ordering::Relaxed), 1);
    assert_eq!(fake::launches("boring"), 1);
    program.interceptor.alive.store(false, Ordering::Relaxed);
    let other = increment("after_the_end");
    program.launch(other, "after_the_end", data, Stream::NULL, 0);
    assert_eq!(fake::launches("after_the_end"), 1);
    assert!(locked(&program.log.dispatches).is_empty());
}

#[test]
fn a_launch_that_is_not_selected_is_only_looked_up() {
    for with_engine in [false, true] {
        let program = Program::new(3);
        let data = program.allocate(4096);
        if with_engine {
            program.launch(increment("interesting"), "interesting", data, Stream::NULL, 0);
        }
        let function = increment("boring_often");
        let symbol = CString::new("boring_often").expect("no NUL");
        let mut argument = data;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        let parameters = one_block(function, Stream::NULL, &mut arguments);
        let once = || program.quiet_call(cbid::LAUNCH_KERNEL, &symbol, &parameters);
        // The first launch finds the kernel's name.
        once();
        let (calls, allocations) = (fake::calls(), crate::test_alloc::allocations());
        for _ in 0..100 {
            once();
        }
        assert_eq!(crate::test_alloc::allocations(), allocations, "no launch allocates");
        assert_eq!(fake::calls(), calls, "no launch asks the driver");
        assert_eq!(program.log.not_selected.load(Ordering::Relaxed), 101);
        assert_eq!(program.interceptor.context(program.context).driven().is_some(), with_engine);
    }
}

#[test]
fn where_nothing_is_selected_there_is_no_engine() {
    let program = Program::new(3);
    let (data, gone) = (program.allocate(4096), program.allocate(8192));
    let calls = fake::calls();
    let boring = increment("boring_alone");
    for _ in 0..3 {
        program.call(cbid::LAUNCH_KERNEL_EX, "boring_alone", &extended(boring), || 0);
    }
    assert_eq!(fake::calls(), calls, "no stream, no module, no question");
    assert!(program.interceptor.context(program.context).driven().is_none());
    program.free(gone, 0);
    // What came before is known to the engine that is made now.
    program.launch(increment("at_last"), "at_last", data, Stream::NULL, 0);
    assert_eq!((program.last().outcome, program.last().bytes.footprint), (Outcome::Replayed, 4096));
    assert_eq!((program.last().id, program.log.not_selected.load(Ordering::Relaxed)), (DispatchId(4), 3));
}

/// An extended launch without arguments, which a launch that is not selected is never asked for.
fn extended(function: Function) -> LaunchKernelExParams {
    LaunchKernelExParams {
        config: std::ptr::null(),
        function,
        arguments: std::ptr::null_mut(),
        extra: std::ptr::null_mut(),
    }
}

#[test]
fn the_first_window_waits_for_calls_that_began_without_an_engine() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let (boring, first) = (increment("boring_under_way"), increment("first_of_all"));
    let before = word(data);
    let entered = &std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let program = &program;
        program.call(cbid::LAUNCH_KERNEL_EX, "boring_under_way", &extended(boring), || {
            scope.spawn(move || {
                entered.wait();
                program.launch(first, "first_of_all", data, Stream::NULL, 0);
            });
            entered.wait();
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert_eq!(fake::launches("first_of_all"), 0, "a window began beside the program's own launch");
            0
        });
    });
    assert_eq!((program.last().outcome, word(data)), (Outcome::Replayed, before.wrapping_add(1)));
}

#[test]
fn a_handle_that_is_used_again_is_asked_about_again() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("boring_before");
    program.launch(function, "boring_before", data, Stream::NULL, 0);
    program.launch(function, "boring_before", data, Stream::NULL, 0);
    let module = program.interceptor.driver.function_module(function).expect("the fake tells");
    program.call(cbid::MODULE_UNLOAD, "", &UnloadParams { handle: module.0 }, || 0);
    program.launch(function, "interesting_now", data, Stream::NULL, 0);
    assert_eq!(&*program.last().kernel.name, "interesting_now");
    assert_eq!(program.log.not_selected.load(Ordering::Relaxed), 2);
}

#[test]
fn an_open_batch_window_records_what_is_not_selected() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let (asked, other) = (increment("wanted"), increment("boring_between"));
    let before = word(data);
    // Known before the window, so that the short way is taken.
    program.launch(other, "boring_between", data, Stream::NULL, 0);
    for _ in 0..4 {
        program.launch(asked, "wanted", data, Stream::NULL, 0);
        program.launch(other, "boring_between", data, Stream::NULL, 0);
    }
    program.interceptor.context(program.context).driven().expect("an engine").engine.close_window();
    let records = locked(&program.log.dispatches).clone();
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
    assert_eq!((fake::launches("wanted"), fake::launches("boring_between")), (12, 13));
    assert_eq!(word(data), before.wrapping_add(9));
}

#[test]
fn a_call_that_was_under_way_when_the_command_went_leaves_the_gate() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let function = increment("boring_at_the_end");
    let mut argument = data;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let parameters = one_block(function, Stream::NULL, &mut arguments);
    program.call(cbid::LAUNCH_KERNEL, "boring_at_the_end", &parameters, || {
        program.interceptor.alive.store(false, Ordering::Relaxed);
        0
    });
    program.interceptor.alive.store(true, Ordering::Relaxed);
    program.launch(increment("afterwards"), "afterwards", data, Stream::NULL, 0);
    assert_eq!(program.last().outcome, Outcome::Replayed, "the gate is free");
}

/// Leaves out by the name, and counts how often it is asked about a launch.
#[derive(Default)]
struct LeavesOut(AtomicU64);

impl Filter for LeavesOut {
    fn select(&self, kernel: &KernelInfo) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        !self.never(kernel)
    }

    fn never(&self, kernel: &KernelInfo) -> bool {
        kernel.name.contains("boring")
    }
}

#[test]
fn nobody_is_asked_about_a_kernel_that_is_never_selected() {
    for batches in [false, true] {
        let filter = Arc::new(LeavesOut::default());
        let settings = Program::settings(3, batches, Request::default());
        let program = Program::made(settings, Arc::clone(&filter) as Arc<dyn Filter>, Box::new(|_| None));
        let data = program.allocate(4096);
        let before = word(data);
        let (boring, wanted) = (increment("boring_for_good"), increment("wanted_at_times"));
        for _ in 0..2 {
            for _ in 0..3 {
                program.launch(boring, "boring_for_good", data, Stream::NULL, 0);
            }
            program.launch(wanted, "wanted_at_times", data, Stream::NULL, 0);
        }
        program.interceptor.finish();
        assert_eq!((filter.0.load(Ordering::Relaxed), program.log.not_selected.load(Ordering::Relaxed)), (2, 6));
        let records = locked(&program.log.dispatches).clone();
        let told: Vec<_> = records.iter().map(|record| (record.id, record.outcome.clone())).collect();
        // Every launch has a number.
        assert_eq!(told, [(DispatchId(4), Outcome::Replayed), (DispatchId(8), Outcome::Replayed)]);
        assert_eq!(word(data), before.wrapping_add(8));
    }
}
