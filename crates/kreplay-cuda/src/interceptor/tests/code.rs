//! Modules: their variables, and what their kernels use of the device runtime.

mod alike;

use super::*;

#[test]
fn module_variables_are_put_back_too() {
    let program = Program::new(5);
    let counter = Box::leak(Box::new([40u32; 4]));
    let address = counter.as_ptr() as u64;
    fake::add_variable("launch_counter", address, 16);
    let mut elf = Elf::default();
    let text = elf.section(".text.counting", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("launch_counter", 1, global, 0, 16);
    elf.symbol("counting", 2, text, 0, 16);
    program.load(&elf.build());
    let kernel = add_kernel(
        "counting",
        &[(0, 8)],
        Arc::new(move |_, _| {
            // SAFETY: leaked above.
            unsafe { *(address as *mut u32) += 1 };
        }),
    );
    program.launch(Function(kernel as *mut c_void), "counting", 0, Stream::NULL, 0);
    assert_eq!(program.last().outcome, Outcome::Replayed);
    assert_eq!(word(address), 41, "five passes count once");
    assert_eq!(program.last().bytes.write_set, 16);
}

#[test]
fn printing_kernels_and_hidden_variables_decline() {
    use kreplay_engine::Decline;
    let program = Program::new(3);
    let mut elf = Elf::default();
    let text = elf.section(".text.printing", 1, vec![0; 16]);
    let printing = elf.symbol("printing", 2, text, 0, 16);
    let print = elf.symbol("vprintf", 2, 0, 0, 0);
    let pair = [printing.to_le_bytes(), print.to_le_bytes()].concat();
    elf.section(".nv.callgraph", 0x7000_0001, pair);
    let mut hiding = Elf::default();
    let text = hiding.section(".text.hiding", 1, vec![0; 16]);
    let global = hiding.section(".nv.global", 8, vec![]);
    hiding.symbol("nobody_finds_this", 1, global, 0, 16);
    hiding.symbol("hiding", 2, text, 0, 16);
    for image in [elf.build(), hiding.build()] {
        program.load(&image);
    }
    for name in ["printing", "hiding"] {
        let kernel = add_kernel(name, &[(0, 8)], Arc::new(|_, _| {}));
        program.launch(Function(kernel as *mut c_void), name, 0, Stream::NULL, 0);
        assert_eq!(program.declined(), Some(Decline::UntrackedMemory), "{name}");
        assert_eq!(fake::launches(name), 1);
    }
}

#[test]
fn names_are_shown_as_people_write_them_and_looked_up_as_they_are() {
    let program = Program::new(2);
    let mut elf = Elf::default();
    let text = elf.section(".text._Z4showPj", 1, vec![0; 16]);
    let showing = elf.symbol("_Z4showPj", 2, text, 0, 16);
    let print = elf.symbol("vprintf", 2, 0, 0, 0);
    elf.section(".nv.callgraph", 0x7000_0001, [showing.to_le_bytes(), print.to_le_bytes()].concat());
    program.load(&elf.build());
    let data = program.allocate(4096);
    program.launch(increment("_Z4showPj"), "_Z4showPj", data, Stream::NULL, 0);
    assert_eq!(&*program.last().kernel.name, "show(unsigned int*)");
    assert_eq!(program.declined(), Some(kreplay_engine::Decline::UntrackedMemory), "its code was found");
}

#[test]
fn variables_that_appear_within_a_window_are_put_back_in_it() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let counter = Box::leak(Box::new([10u32; 4]));
    let address = counter.as_ptr() as u64;
    fake::add_variable("late_counter", address, 16);
    let mut elf = Elf::default();
    let text = elf.section(".text.late_counting", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("late_counter", 1, global, 0, 16);
    elf.symbol("late_counting", 2, text, 0, 16);
    let image = elf.build();
    program.launch(increment("early_enough"), "early_enough", data, Stream::NULL, 0);
    program.load(&image);
    let kernel = add_kernel(
        "late_counting",
        &[(0, 8)],
        Arc::new(move |_, arguments| {
            // SAFETY: leaked above, and live memory of the fake. The result shows what the variable was.
            unsafe {
                *(address as *mut u32) += 1;
                **arguments[0].cast::<*mut u32>() = *(address as *mut u32);
            }
        }),
    );
    for _ in 0..2 {
        program.launch(Function(kernel as *mut c_void), "late_counting", data, Stream::NULL, 0);
    }
    program.interceptor.context(program.context).driven().expect("an engine").engine.close_window();
    let records = locked(&program.log.dispatches).clone();
    assert_eq!(records.len(), 3);
    for record in &records {
        assert_eq!((&record.outcome, &record.divergence), (&Outcome::Replayed, &None), "{}", record.kernel.name);
    }
    assert!(records.iter().all(|record| record.window == records[0].window), "one window held them all");
    assert_eq!((word(address), word(data)), (12, 12));
}

#[test]
fn code_that_is_loaded_within_a_launch_keeps_nobody_waiting() {
    let program = Program::new(3);
    let data = program.allocate(4096);
    let (first, second) = (increment("loads_within"), increment("looks_meanwhile"));
    program.launch(first, "loads_within", data, Stream::NULL, 0);
    let mut elf = Elf::default();
    let text = elf.section(".text.looks_meanwhile", 1, vec![0; 16]);
    let global = elf.section(".nv.global", 8, vec![]);
    elf.symbol("meanwhile", 1, global, 0, 16);
    elf.symbol("looks_meanwhile", 2, text, 0, 16);
    let image = elf.build();
    let counter = Box::leak(Box::new([0u32; 4]));
    fake::add_variable("meanwhile", counter.as_ptr() as u64, 16);
    let load = || {
        program.load(&image);
    };
    load();
    let mut argument = data;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let parameters = one_block(first, Stream::NULL, &mut arguments);
    std::thread::scope(|scope| {
        let program = &program;
        // The window of this launch is open while its last pass loads code; the other thread tells of variables meanwhile.
        program.call(cbid::LAUNCH_KERNEL, "loads_within", &parameters, || {
            scope.spawn(move || program.launch(second, "looks_meanwhile", data, Stream::NULL, 0));
            std::thread::sleep(std::time::Duration::from_millis(50));
            load();
            0
        });
    });
    assert_eq!(locked(&program.log.dispatches).len(), 3);
    assert_eq!(program.declined(), None);
}

/// Its kernels cannot be launched again once it is gone, whether it has variables or not.
#[test]
fn code_that_is_unloaded_ends_the_window_that_recorded_its_kernels() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let before = word(data);
    let (used, unused) = (increment("unloaded_soon"), increment("never_launched"));
    program.launch(used, "unloaded_soon", data, Stream::NULL, 0);
    let unload = |function| {
        let module = program.interceptor.driver.function_module(function).expect("the fake tells");
        program.call(cbid::MODULE_UNLOAD, "", &UnloadParams { handle: module.0 }, || 0);
    };
    unload(unused);
    assert!(locked(&program.log.dispatches).is_empty(), "what no window recorded may go");
    unload(used);
    assert_eq!(program.last().outcome, Outcome::Replayed);
    assert_eq!(locked(&program.log.windows)[0].closing, ClosingReason::Unloaded);
    assert_eq!((fake::launches("unloaded_soon"), word(data)), (3, before.wrapping_add(1)));
}

/// Textures, arrays and limits: a replay would meet them gone.
#[test]
fn what_launches_use_beside_memory_ends_windows_before_it_goes() {
    const TEXTURE_DESTROY: u32 = 340;
    const ARRAY_DESTROY: u32 = 89;
    const SET_LIMIT: u32 = 136;
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let kernel = increment("reads_a_texture");
    let before = word(data);
    for id in [TEXTURE_DESTROY, ARRAY_DESTROY, SET_LIMIT] {
        program.launch(kernel, "reads_a_texture", data, Stream::NULL, 0);
        let seen = fake::launches("reads_a_texture");
        program.call(id, "", &UnloadParams { handle: std::ptr::null_mut() }, || {
            assert_eq!(fake::launches("reads_a_texture"), seen + 2, "{id}: replayed before the call");
            0
        });
    }
    let reasons: Vec<_> = locked(&program.log.windows).iter().map(|window| window.closing).collect();
    assert_eq!(reasons, [ClosingReason::Freed, ClosingReason::Freed, ClosingReason::Unrecordable]);
    assert_eq!(word(data), before.wrapping_add(3));
}
